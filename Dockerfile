# kix and kixbot with what they call: git and Nix. The base is any Debian with python3 3.11 or newer, an argument so
# that a machine without a registry can build on a base of its own.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates python3 python3-pip python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY kixbot/requirements.txt requirements.txt
RUN python3 -m venv /opt/kix \
 && /opt/kix/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.txt
# kixbot/templates and kixbot/examples are links to these two: they become folders of the package.
COPY templates templates
COPY examples examples
COPY kixbot kixbot
RUN packages=$(/opt/kix/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
 && cp --recursive --dereference kixbot "$packages/kixbot" \
 && printf '#!/bin/sh\nexec /opt/kix/bin/python -I -m kixbot "$@"\n' > /opt/kix/bin/kix \
 && printf '#!/bin/sh\nexec /opt/kix/bin/python -I -m kixbot.bot "$@"\n' > /opt/kix/bin/kixbot \
 && chmod 0755 /opt/kix/bin/kix /opt/kix/bin/kixbot

FROM ${BASE}
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git nix-bin python3 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 kix
COPY --from=build /opt/kix /opt/kix
ENV PATH=/opt/kix/bin:/usr/local/bin:/usr/bin:/bin
USER kix
WORKDIR /home/kix
ENTRYPOINT ["/opt/kix/bin/kixbot"]
