# One resource: its manifest, what others may refer to (`.out`), and what kix must know besides.
{
  basics,
  kinds,
  manifest,
  markers,
  errors,
}:
let
  inherit (builtins)
    attrNames
    concatLists
    concatMap
    filter
    head
    intersectAttrs
    isAttrs
    isList
    isString
    map
    removeAttrs
    unsafeDiscardStringContext
    unsafeGetAttrPos
    ;
  inherit (basics)
    attrByPath
    concatMapStringsSep
    optionalAttrs
    ;
  plainText = unsafeDiscardStringContext;
  # Labels that stay for the life of a workload; its selector is made of those of them that its pods have.
  steadyLabels = {
    "app.kubernetes.io/name" = null;
    "app.kubernetes.io/instance" = null;
    "app.kubernetes.io/component" = null;
  };
  ownArguments = [
    "apiVersion"
    "kind"
    "name"
    "namespace"
    "labels"
    "annotations"
    "metadata"
    "ownership"
    "after"
    "ready"
    "generated"
  ];
  setAt =
    path: value: set:
    if path == [ ] then
      value
    else
      set // { ${head path} = setAt (builtins.tail path) value (set.${head path} or { }); };
  setOr = value: if isAttrs value then value else { };
in
rec {
  isResource = value: isAttrs value && value._type or null == "kix-resource";
  isExternal = value: isAttrs value && value._type or null == "kix-external";

  # `args` as given to mkResource. `namespace` is the default one, `podLabels` the labels a workload's pods get,
  # `labels` those of every object, `change` the override, `origin` the place.
  make =
    {
      where,
      args,
      namespace,
      labels ? { },
      podLabels ? null,
      change ? { },
      origin ? null,
      package ? null,
    }:
    let
      # Any argument's place will do where the name has none.
      known = filter (place: place != null) (
        [ origin ] ++ map (field: unsafeGetAttrPos field args) (attrNames args)
      );
      place = if known == [ ] then "" else "\n  defined at ${errors.showPlace { pos = head known; }}";
      missing =
        field: hint: throw "${where}: a resource needs a ${field}${place}${errors.hint hint}";
      textOf =
        field: hint:
        if !(args ? ${field}) then
          missing field hint
        else if isString args.${field} then
          args.${field}
        else
          throw "${where}: ${field}: expected a string, found ${errors.showValue args.${field}}${place}${errors.hint hint}";
      kind = textOf "kind" "write kind = \"Deployment\"";
      givenName = textOf "name" "write name = \"web\"";
      apiVersion = args.apiVersion or (kinds.apiVersionOf where place kind);
      group = kinds.groupOf apiVersion;
      clusterScoped = kinds.isClusterScoped kind group;
      changed = setOr (change.metadata or null);
      finalName = changed.name or givenName;
      finalNamespace =
        if clusterScoped then null else changed.namespace or (args.namespace or namespace);
      id = kinds.idOf {
        inherit kind group;
        name = plainText finalName;
        namespace = if finalNamespace == null then null else plainText finalNamespace;
      };
      allLabels = labels // setOr ((args.metadata or { }).labels or null) // (args.labels or { });
      allAnnotations = setOr ((args.metadata or { }).annotations or null) // (args.annotations or { });
      base =
        removeAttrs args ownArguments
        // {
          inherit apiVersion kind;
          metadata =
            (args.metadata or { })
            // {
              name = givenName;
            }
            // optionalAttrs (finalNamespace != null) { namespace = finalNamespace; }
            // optionalAttrs (allLabels != { }) { labels = allLabels; }
            // optionalAttrs (allAnnotations != { }) { annotations = allAnnotations; };
        };
      workload = kinds.podTemplatePath kind group;
      ownsLabels = podLabels != null && workload != null;
      labelPath = workload ++ [
        "metadata"
        "labels"
      ];
      selectorPath = [
        "spec"
        "selector"
        "matchLabels"
      ];
      givenSelector = setOr (attrByPath selectorPath { } base);
      labelled =
        if ownsLabels then
          setAt labelPath (podLabels // setOr (attrByPath labelPath { } base) // givenSelector) base
        else
          base;
      merged = manifest.override labelled change;
      finalPodLabels = if workload == null then { } else setOr (attrByPath labelPath { } merged);
      steady = builtins.intersectAttrs steadyLabels finalPodLabels;
      selector =
        if givenSelector != { } then
          builtins.mapAttrs (name: value: finalPodLabels.${name} or value) givenSelector
        else if steady != { } then
          steady
        else
          finalPodLabels;
      body =
        if ownsLabels && kinds.hasSelector kind group then
          setAt selectorPath selector merged
        else
          merged;
      generated = args.generated or [ ];
      self = {
        _type = "kix-resource";
        inherit
          id
          kind
          group
          apiVersion
          givenName
          generated
          origin
          package
          ;
        name = finalName;
        namespace = finalNamespace;
        body = body;
        after = args.after or [ ];
        cede = (args.ownership or { }).cede or [ ] ++ cededIn body;
        ready = args.ready or null;
        unmatched = manifest.unmatchedIn "$" labelled change;
        out = outOf self selector finalPodLabels;
      };
    in
    self;

  # The paths in the annotation kix.run/cede, one a line.
  cededIn =
    body:
    let
      text = (setOr (setOr body.metadata).annotations or null)."kix.run/cede" or "";
    in
    filter (line: line != "") (basics.splitString "\n" text);

  # What others may refer to. Every string carries the reference to this object.
  outOf =
    self: selector: podLabels:
    let
      mark = markers.mark self.id;
      body = self.body;
      plainName = "${basics.toLower self.kind} ${builtins.toJSON (plainText self.name)}";
      ports = portsOf body;
      findPort =
        name:
        let
          found = filter (port: port.name or null == name) ports;
        in
        if found == [ ] then
          manifest.fault {
            rule = "ref/port";
            message = "${plainName} does not declare port ${builtins.toJSON name}\n  declared ports: ${
              listed (map (port: port.name or (toString (port.port or port.containerPort))) ports)
            }";
            resource = self.id;
          }
        else
          (head found).port or (head found).containerPort;
      keys = attrNames (keysOf body) ++ map (plainText) self.generated;
    in
    {
      name = mark self.name;
      namespace = if self.namespace == null then null else mark self.namespace;
      fqdn =
        if self.kind == "Service" && self.group == "" then
          mark "${self.name}.${self.namespace}.svc.cluster.local"
        else
          throw "${self.id}: only a Service has an address\nhint: use the .out.fqdn of the Service in front of it";
      port = name: mark (toString (findPort name));
      portNumber = findPort;
      selector = markers.markSoft self.id selector;
      podLabels = markers.markSoft self.id podLabels;
      key =
        name:
        if builtins.elem name keys then
          mark name
        else
          manifest.fault {
            rule = if self.kind == "ConfigMap" then "ref/config-map-key" else "ref/secret-key";
            message = "${plainName} does not declare key ${builtins.toJSON name}\n  declared keys: ${listed keys}";
            hint = nearHint name keys;
            resource = self.id;
          };
      ref = {
        apiVersion = mark self.apiVersion;
        kind = mark self.kind;
        name = mark self.name;
      };
      serviceAccountName =
        let
          template = kinds.podTemplatePath self.kind self.group;
          named = attrByPath (template ++ [
            "spec"
            "serviceAccountName"
          ]) "default" body;
        in
        if self.kind == "ServiceAccount" then
          mark self.name
        else if template != null then
          mark named
        else
          throw "${self.id}: only a ServiceAccount and workloads have a serviceAccountName";
    };

  nearHint =
    name: names:
    let
      near = errors.nearest name names;
    in
    if near == null then null else "did you mean ${builtins.toJSON near}?";
  listed =
    names:
    if names == [ ] then
      "(none)"
    else
      concatMapStringsSep ", " (name: plainText name) (basics.sortedUnique (map plainText names));
  keysOf = body: setOr (body.data or null) // setOr (body.stringData or null) // setOr (body.binaryData or null);
  # Named ports of a Service, or of the containers of a workload or pod.
  portsOf =
    body:
    let
      template = kinds.podTemplatePath body.kind (kinds.groupOf body.apiVersion);
      spec = if template == null then body.spec or { } else attrByPath (template ++ [ "spec" ]) { } body;
      containers = concatLists (
        map (field: if isList (spec.${field} or null) then spec.${field} else [ ]) [
          "containers"
          "initContainers"
        ]
      );
    in
    if isList (spec.ports or null) then
      spec.ports
    else
      concatMap (container: container.ports or [ ]) containers;

  # --- what stands outside of the build ---

  external =
    {
      kind,
      name,
      namespace ? null,
      group ? null,
      apiVersion ? null,
      keys ? null,
      verify ? false,
      origin ? null,
    }:
    let
      itsGroup =
        if group != null then
          group
        else if apiVersion != null then
          kinds.groupOf apiVersion
        else if kinds.known ? ${kind} then
          kinds.groupOf kinds.known.${kind}
        else
          null;
      self = {
        _type = "kix-external";
        inherit
          kind
          name
          namespace
          keys
          verify
          origin
          ;
        group = itsGroup;
        id = kinds.idOf {
          inherit kind namespace;
          name = plainText name;
          group = if itsGroup == null then "" else itsGroup;
        };
      };
      plainName = "${basics.toLower kind} ${builtins.toJSON name}";
    in
    self
    // optionalAttrs verify {
      out = {
        name = markers.mark self.id name;
        namespace = if namespace == null then null else markers.mark self.id namespace;
        fqdn =
          if kind == "Service" && namespace != null then
            markers.mark self.id "${name}.${namespace}.svc.cluster.local"
          else
            throw "${self.id}: only a Service with a namespace has an address";
        key =
          key:
          if keys == null || builtins.elem key keys then
            markers.mark self.id key
          else
            manifest.fault {
              rule = if kind == "ConfigMap" then "ref/config-map-key" else "ref/secret-key";
              message = "${plainName} does not declare key ${builtins.toJSON key}\n  declared keys: ${listed keys}";
              hint = nearHint key keys;
              resource = self.id;
            };
        ref = {
          kind = markers.mark self.id kind;
          name = markers.mark self.id name;
        };
      };
    };
  # `untrackedRef { kind; name; … }` and `import { … }`, checked and with their place.
  externalAt =
    verify: args:
    let
      known = {
        kind = null;
        name = null;
        namespace = null;
        group = null;
        apiVersion = null;
        keys = null;
      };
      function = if verify then "kix.import" else "kix.untrackedRef";
      surplus = attrNames (removeAttrs args (attrNames known));
      wrong = filter (field: !(isString (args.${field} or ""))) [
        "kind"
        "name"
      ];
    in
    if surplus != [ ] then
      throw "${function}: unknown field \"${head surplus}\"\nhint: it takes ${concatMapStringsSep ", " (n: n) (attrNames known)}"
    else if !(args ? kind && args ? name) || wrong != [ ] then
      throw "${function}: needs kind and name, as strings"
    else
      external (
        intersectAttrs known args
        // {
          inherit verify;
          origin = unsafeGetAttrPos "name" args;
        }
      );
}
