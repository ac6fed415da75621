# A pinned image prints with its digest; else the package's default tag, reported as unpinned.
{ document, simple, kix, ... }:
let
  found = document [
    {
      pins = kix.readPins ./pins.json;
      instances.shop.web.package =
        { scope, pins }:
        {
          name = "web";
          build = _: {
            config = scope.mkConfigMap {
              name = "web";
              data = {
                web = pins.image "web" "ghcr.io/acme/web:1.0.0";
                text = "runs ${pins.web}";
                tag = pins.web.tag;
                other = pins.image "other" "docker.io/library/other:2";
              };
            };
            raw = scope.mkResource { kind = "ConfigMap"; name = "raw"; data.image = pins.web; };
          };
        };
    }
  ];
in
{
  inherit (found) pins assertions;
  data = builtins.concatMap (r: if r.manifest ? data then [ r.manifest.data ] else [ ]) found.resources;
}
