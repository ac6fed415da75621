# What a package builds with: `scope.mkResource` and its typed shortcuts. One scope per package instance.
{
  basics,
  errors,
  modules,
  types,
  resource,
  kinds,
}:
let
  inherit (builtins)
    attrNames
    filter
    head
    isAttrs
    map
    mapAttrs
    unsafeGetAttrPos
    ;
  inherit (basics) concatMapStringsSep hasPrefix optionalAttrs;

  # Arguments of a shortcut, each of its type when it is used; an unknown one suggests the nearest name.
  typed =
    shortcut: fields: args:
    let
      unknown = filter (name: !(fields ? ${name})) (attrNames args);
      near = errors.nearest (head unknown) (attrNames fields);
      definitionOf = name: {
        pos = unsafeGetAttrPos name args;
        file = "scope.${shortcut}";
        value = args.${name};
      };
    in
    if unknown != [ ] then
      throw "scope.${shortcut}: unknown argument \"${head unknown}\"\n  defined at ${
        errors.showPlace (definitionOf (head unknown))
      }\nhint: ${
        if near != null then
          "did you mean \"${near}\"?"
        else
          "it takes ${concatMapStringsSep ", " (n: n) (attrNames fields)}"
      }"
    else
      mapAttrs (
        name: _:
        (modules.mergeDefinitions [ "scope" shortcut name ] fields.${name} [ (definitionOf name) ]).mergedValue
      ) args;

  inherit (types)
    attrs
    attrsOf
    listOf
    raw
    str
    nullOr
    port
    ;
  common = {
    name = str;
    namespace = str;
    labels = attrs;
    annotations = attrs;
    ownership = attrs;
    after = listOf raw;
    ready = str;
  };
  ofPods = common // {
    containers = attrsOf attrs;
    initContainers = attrsOf attrs;
    volumes = attrsOf attrs;
    pod = attrs;
    podLabels = attrs;
    podAnnotations = attrs;
    spec = attrs;
  };
  commonOf = args: builtins.intersectAttrs common args;

  # A name as a label's value: at most 63 characters, letters or digits at both ends, "-", "_" and "." between.
  # https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
  labelValue =
    text:
    let
      isLabel = builtins.match "[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?" text != null;
      plain = basics.concatStrings (
        map (c: if builtins.match "[A-Za-z0-9._-]" c != null then c else "-") (basics.stringToCharacters text)
      );
      inner = builtins.match "[._-]*([A-Za-z0-9].*[A-Za-z0-9]|[A-Za-z0-9])[._-]*" (builtins.substring 0 63 plain);
    in
    if isLabel && builtins.stringLength text <= 63 then
      text
    else if inner == null then
      ""
    else
      head inner;

  # Container defaults: what the "restricted" Pod Security Standard asks for, and a read-only root file system.
  # https://kubernetes.io/docs/concepts/security/pod-security-standards/
  hardened = {
    allowPrivilegeEscalation = false;
    capabilities.drop = [ "ALL" ];
    readOnlyRootFilesystem = true;
  };
  listOfNamed = set: map (name: { inherit name; } // set.${name}) (attrNames set);
  container = c: c // { securityContext = hardened // (c.securityContext or { }); };
  podTemplate = args: {
    metadata =
      optionalAttrs (args ? podLabels) { labels = args.podLabels; }
      // optionalAttrs (args ? podAnnotations) { annotations = args.podAnnotations; };
    spec = {
      automountServiceAccountToken = (args.pod or { }) ? serviceAccountName;
    }
    // (args.pod or { })
    // {
      securityContext = {
        runAsNonRoot = true;
        seccompProfile.type = "RuntimeDefault";
      }
      // ((args.pod or { }).securityContext or { });
      containers = listOfNamed (mapAttrs (_: container) (args.containers or { }));
    }
    // optionalAttrs (args ? initContainers) {
      initContainers = listOfNamed (mapAttrs (_: container) args.initContainers);
    }
    // optionalAttrs (args ? volumes) { volumes = listOfNamed args.volumes; };
  };
in
rec {
  inherit hardened;

  # `namespace` and `name` of the instance, `origin` its place, `overrides` by kind and name, `labels` for all.
  of =
    {
      namespace,
      name,
      labels ? { },
      overrides ? { },
      origin ? null,
      libraryRoot,
    }:
    let
      id = "${namespace}/${name}";
      # A finding should point into the user's own files.
      placeOf =
        args:
        let
          position = unsafeGetAttrPos "name" args;
        in
        if position == null || hasPrefix libraryRoot position.file then origin else position;
      # Anything else is refused where the resource is made.
      givenName = value: if builtins.isString value then builtins.unsafeDiscardStringContext value else "";
      changeOf =
        args:
        let
          kind = args.kind or "";
          group = kinds.groupOf (args.apiVersion or (kinds.known.${kind} or ""));
          given = givenName (args.name or "");
        in
        (overrides.${kind} or { }).${given} or ((overrides.${kinds.kindGroup kind group} or { }).${given} or { });
      make =
        args:
        let
          given = givenName (args.name or name);
        in
        resource.make {
          where = "package instance ${id}";
          inherit args namespace;
          labels = {
            "app.kubernetes.io/name" = labelValue given;
            "app.kubernetes.io/instance" = labelValue name;
          }
          // labels;
          podLabels = {
            "app.kubernetes.io/name" = labelValue given;
            "app.kubernetes.io/instance" = labelValue name;
          };
          change = changeOf args;
          origin = placeOf args;
          package = id;
        };
      # The place of `name` is lost when a shortcut builds its arguments anew: hand it on.
      made = place: args: fields: make (fields // commonOf args) // { origin = placeOf place; };
      workload =
        shortcut: kind: fields: args:
        let
          checked = typed shortcut (ofPods // fields) args;
        in
        made args checked {
          inherit kind;
          spec =
            builtins.intersectAttrs fields checked
            // {
              template = podTemplate checked;
            }
            // (checked.spec or { });
        };
    in
    {
      inherit namespace name;
      mkResource =
        args:
        if isAttrs args then
          make args
        else
          throw "package instance ${id}: scope.mkResource takes a set, found ${errors.showValue args}";

      mkDeployment = workload "mkDeployment" "Deployment" {
        replicas = types.ints.unsigned;
        strategy = attrs;
      };
      mkStatefulSet = workload "mkStatefulSet" "StatefulSet" {
        replicas = types.ints.unsigned;
        serviceName = str;
        volumeClaimTemplates = listOf attrs;
      };
      mkDaemonSet = workload "mkDaemonSet" "DaemonSet" { updateStrategy = attrs; };
      mkJob = workload "mkJob" "Job" {
        backoffLimit = types.ints.unsigned;
        ttlSecondsAfterFinished = types.ints.unsigned;
      };
      mkCronJob =
        args:
        let
          fields = {
            schedule = str;
            concurrencyPolicy = str;
            suspend = types.bool;
          };
          checked = typed "mkCronJob" (ofPods // fields) args;
        in
        made args checked {
          kind = "CronJob";
          spec =
            builtins.intersectAttrs fields checked
            // {
              jobTemplate.spec.template = podTemplate checked;
            }
            // (checked.spec or { });
        };

      # `for` is the workload behind the Service, `ports` a set of name → port number, or the port's fields.
      mkService =
        args:
        let
          checked = typed "mkService" (
            common
            // {
              "for" = raw;
              selector = attrs;
              ports = attrsOf (types.either port attrs);
              spec = attrs;
            }
          ) args;
          portOf =
            portName: value:
            {
              name = portName;
              targetPort = portName;
            }
            // (if isAttrs value then value else { port = value; });
        in
        made args checked {
          kind = "Service";
          spec = {
            selector =
              checked.selector or (
                if checked ? "for" then
                  checked."for".out.selector
                else
                  throw "scope.mkService: needs `for`, the workload behind it, or `selector`"
              );
            ports = map (portName: portOf portName checked.ports.${portName}) (attrNames (checked.ports or { }));
          }
          // (checked.spec or { });
        };

      mkConfigMap =
        args:
        let
          checked = typed "mkConfigMap" (
            common
            // {
              data = attrsOf str;
              binaryData = attrsOf str;
              immutable = types.bool;
            }
          ) args;
        in
        made args checked (
          {
            kind = "ConfigMap";
          }
          // builtins.intersectAttrs {
            data = null;
            binaryData = null;
            immutable = null;
          } checked
        );

      # A Secret whose `keys` are made at apply where they are absent. `fixed` are members that are no secret, such
      # as the user name a login belongs to: they too are written only where absent, with the value given here.
      mkSecret =
        args:
        let
          checked = typed "mkSecret" (
            common
            // {
              keys = listOf str;
              fixed = attrsOf str;
              type = str;
            }
          ) args;
        in
        made args checked (
          {
            kind = "Secret";
            type = checked.type or "Opaque";
            generated = (checked.keys or [ ]) ++ attrNames (checked.fixed or { });
          }
          // optionalAttrs (checked.fixed or { } != { }) { stringData = checked.fixed; }
        );

      # A Secret that exists elsewhere, with its keys.
      mkSecretRef =
        args:
        let
          checked = typed "mkSecretRef" {
            name = str;
            namespace = str;
            keys = nullOr (listOf str);
          } args;
        in
        resource.external (
          {
            kind = "Secret";
            inherit namespace;
            verify = true;
            origin = placeOf args;
          }
          // checked
        );

      mkServiceAccount =
        args:
        let
          checked = typed "mkServiceAccount" (common // { automount = types.bool; }) args;
        in
        made args checked {
          kind = "ServiceAccount";
          automountServiceAccountToken = checked.automount or false;
        };

      # The rules a workload needs; ServiceAccount, Role and binding follow. `clusterRules` are cluster-wide.
      mkAccess =
        args:
        let
          checked = typed "mkAccess" (
            common
            // {
              rules = listOf attrs;
              clusterRules = listOf attrs;
            }
          ) args;
          serviceAccount = made args checked {
            kind = "ServiceAccount";
            automountServiceAccountToken = false;
          };
          subjects = [
            {
              kind = "ServiceAccount";
              inherit (serviceAccount.out) name namespace;
            }
          ];
          bound = kind: role: {
            inherit kind subjects;
            roleRef = {
              apiGroup = "rbac.authorization.k8s.io";
              inherit (role) kind;
              inherit (role.out) name;
            };
          };
          role = made args checked {
            kind = "Role";
            inherit (checked) rules;
          };
          clusterName = {
            name = "${namespace}-${checked.name}";
          };
          clusterRole = made args (checked // clusterName) {
            kind = "ClusterRole";
            rules = checked.clusterRules;
          };
        in
        {
          inherit serviceAccount;
        }
        // optionalAttrs (checked ? rules) {
          inherit role;
          binding = made args checked (bound "RoleBinding" role);
        }
        // optionalAttrs (checked ? clusterRules) {
          inherit clusterRole;
          clusterBinding = made args (checked // clusterName) (bound "ClusterRoleBinding" clusterRole);
        };

      # An HTTPRoute of the Gateway API: `hostnames` at `gateway` go to `port` of the Service `to`.
      mkRoute =
        args:
        let
          checked = typed "mkRoute" (
            common
            // {
              gateway = attrs;
              hostnames = listOf str;
              to = raw;
              port = str;
              path = str;
              spec = attrs;
            }
          ) args;
          gateway = checked.gateway;
          parent =
            if gateway ? _type then
              {
                name = (gateway.out or gateway).name;
              }
              // optionalAttrs ((gateway.out or gateway).namespace != null) {
                namespace = (gateway.out or gateway).namespace;
              }
            else
              gateway;
        in
        made args checked {
          apiVersion = "gateway.networking.k8s.io/v1";
          kind = "HTTPRoute";
          spec = {
            parentRefs = [ parent ];
            rules = [
              {
                matches = [
                  {
                    path = {
                      type = "PathPrefix";
                      value = checked.path or "/";
                    };
                  }
                ];
                backendRefs = [
                  {
                    inherit (checked.to.out) name;
                    port = checked.to.out.portNumber (checked.port or "http");
                  }
                ];
              }
            ];
          }
          // optionalAttrs (checked ? hostnames) { inherit (checked) hostnames; }
          // (checked.spec or { });
        };
    };
}
