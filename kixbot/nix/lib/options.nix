# The options of a cluster, as one module. `outOf "namespace/name"` gives what an instance offers to others.
{
  basics,
  errors,
  modules,
  types,
  resource,
}:
{ outOf }:
let
  inherit (builtins)
    filter
    head
    isAttrs
    map
    ;
  inherit (modules) mkOption;
  roles = [
    "loadBalancer"
    "storage"
    "ingress"
    "gateway"
    "monitoring"
    "certificates"
    "dns"
    "cni"
    "autoscaler"
    "policy"
  ];
  placeOf =
    definitions:
    let
      known = filter (d: d.pos or null != null) definitions;
    in
    if known == [ ] then null else (head known).pos;
  listOfStr =
    description:
    mkOption {
      type = types.listOf types.str;
      default = [ ];
      inherit description;
    };
  instanceId = types.strMatching "[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-.a-z0-9]*[a-z0-9])?" // {
    description = "an instance, as \"namespace/name\"";
  };

  # Definitions as they were written, so that the package's own options merge them and priorities survive.
  rawDefinitions = types.mkOptionType {
    name = "rawDefinitions";
    description = "a set of options of the package";
    check = value: isAttrs value;
    emptyValue.value = [ ];
    merge =
      _:
      map (d: {
        _file = if d.pos or null == null then d.file else errors.showPlace d;
        config = d.value;
      });
  };

  overrides = types.attrsOf (types.attrsOf types.anything);

  instance = types.submodule {
    config._module.hint = "options of the package stand under config";
    options = {
      package = mkOption {
        type = types.raw // {
          description = "a package: a function, or the path of a file that holds one";
        };
        description = "A package: a function, or the path of a file that holds one.";
      };
      config = mkOption {
        type = rawDefinitions;
        default = { };
        description = "Options of the package.";
      };
      deps = mkOption {
        type = types.attrsOf (types.nullOr instanceId);
        default = { };
        description = "Settles a dependency by name: an instance, or null for none.";
      };
      aliases = listOfStr "Other names under which packages of the same namespace find this instance.";
      labels = mkOption {
        type = types.attrsOf types.str;
        default = { };
        description = "Labels on every resource of the instance.";
      };
      resources = mkOption {
        type = overrides;
        default = { };
        description = "Changes to resources, by kind and name as given to mkResource.";
      };
    };
  };
  # An instance knows where it was written and what it offers.
  instanceWithPlace = instance // {
    description = "an instance, as { package = …; }";
    check = isAttrs;
    merge =
      loc: definitions:
      instance.merge loc definitions
      // {
        origin = placeOf definitions;
        out = outOf "${basics.last (basics.init loc)}/${basics.last loc}";
      };
  };

  rawResource = types.mkOptionType {
    name = "resource";
    description = "a resource";
    check = isAttrs;
    merge = loc: definitions: {
      value = types.anything.merge loc definitions;
      origin = placeOf definitions;
    };
  };

  # Each path with the place of the definition that lists it.
  manifestPaths = types.mkOptionType {
    name = "manifestPaths";
    description = "a list of paths of YAML or JSON files";
    check = value: builtins.isList value && builtins.all types.path.check value;
    emptyValue.value = [ ];
    merge =
      _:
      builtins.concatMap (
        d:
        map (path: {
          path = toString path;
          origin = d.pos or null;
        }) d.value
      );
  };

  externals = types.listOf (
    types.mkOptionType {
      name = "external";
      description = "kix.untrackedRef { … } or kix.import { … }";
      check = resource.isExternal;
      merge = modules.mergeOneOption;
    }
  );

  suppression = types.submodule {
    options = {
      rule = mkOption {
        type = types.str;
        description = "The rule's id.";
      };
      resource = mkOption {
        type = types.str;
        description = "The resource's id.";
      };
      reason = mkOption {
        type = types.nonEmptyStr;
        description = "Why it is right here.";
      };
      until = mkOption {
        type = types.nullOr (types.strMatching "[0-9]{4}-[0-9]{2}-[0-9]{2}");
        default = null;
        description = "The day it ends, as 2027-01-31.";
      };
    };
  };

  interface = types.submodule {
    options = {
      provider = mkOption {
        type = types.nullOr instanceId;
        default = null;
        description = "The instance that provides this interface in the whole cluster.";
      };
      namespaces = mkOption {
        type = types.attrsOf (
          types.submodule {
            options.provider = mkOption {
              type = types.nullOr instanceId;
              default = null;
              description = "The instance that provides this interface in this namespace.";
            };
          }
        );
        default = { };
        description = "Providers for single namespaces.";
      };
    };
  };
in
{
  _file = "kix/lib/options.nix";
  options = {
    name = mkOption {
      type = types.strMatching "[a-z0-9]([-a-z0-9]*[a-z0-9])?" // {
        description = "a DNS label";
      };
      description = "The cluster's name; its activations are called after it.";
    };
    availablePackages = mkOption {
      type = types.lazyAttrsOf types.raw;
      default = { };
      description = "Packages that may be added to satisfy a dependency, in their default namespace.";
    };
    instances = mkOption {
      type = types.attrsOf (types.attrsOf instanceWithPlace);
      default = { };
      description = "Package instances, by namespace and name.";
    };
    resources = mkOption {
      type = types.attrsOf (types.attrsOf (types.attrsOf rawResource));
      default = { };
      description = "Raw resources, by namespace, kind and name.";
    };
    clusterResources = mkOption {
      type = types.attrsOf (types.attrsOf rawResource);
      default = { };
      description = "Raw resources without namespace, by kind and name.";
    };
    manifests = mkOption {
      type = manifestPaths;
      default = [ ];
      description = "Files of YAML or JSON manifests.";
    };
    interfaces = mkOption {
      type = types.attrsOf interface;
      default = { };
      description = "Which instance provides an interface.";
    };
    externals = mkOption {
      type = externals;
      default = [ ];
      description = "What exists outside of the build.";
    };
    scorecard = {
      fail = listOfStr "Rules whose warnings fail the check, as ids or `group/*`.";
      ignore = mkOption {
        type = types.listOf suppression;
        default = [ ];
        description = "Findings that are right here.";
      };
    };
    pins = mkOption {
      type = types.raw;
      default = { };
      description = "Image pins: kix.readPins ./pins.json.";
    };
    cluster = {
      flavor = mkOption {
        type = types.str;
        default = "generic";
        description = "The name of the flavor the facts come from.";
      };
      kubernetesVersion = mkOption {
        type = types.strMatching "1[.][0-9]+" // {
          description = "a Kubernetes version such as \"1.34\"";
        };
        default = "1.34";
        description = "The version of the control plane.";
      };
      availability = mkOption {
        type = types.enum [
          "none"
          "zone"
        ];
        default = "none";
        description = "What a workload should survive: nothing, or the loss of a zone.";
      };
      zones = listOfStr "The zones nodes stand in.";
      nodes = mkOption {
        type = types.nullOr types.ints.positive;
        default = null;
        description = "How many nodes there are, where known.";
      };
      storageClasses = listOfStr "Storage classes that exist.";
      ingressClasses = listOfStr "Ingress classes that exist.";
      priorityClasses = listOfStr "Priority classes that exist.";
      runtimeClasses = listOfStr "Runtime classes that exist.";
      roles = basics.genAttrs roles (role: {
        binding = mkOption {
          type =
            types.either (types.enum [
              "builtin"
              "absent"
              "external"
            ]) instanceId
            // {
              description = "\"builtin\", \"absent\", \"external\" or an instance, as \"namespace/name\"";
            };
          default = "external";
          description = "Who fills the role ${role}.";
        };
      });
    };
  };
}
