# `buildCluster`: a name and modules in, one evaluated cluster out.
{
  basics,
  errors,
  resource,
  scope,
  resolve,
  package,
  pins,
  document,
  optionsOf,
  library,
  libraryRoot,
}:
let
  inherit (builtins)
    attrNames
    concatLists
    concatMap
    elem
    filter
    listToAttrs
    map
    mapAttrs
    removeAttrs
    ;
  inherit (basics) optional sortedUnique mapAttrsToList;
  plain = builtins.unsafeDiscardStringContext;
  # Made by the API server itself. https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
  initialNamespaces = [
    "default"
    "kube-node-lease"
    "kube-public"
    "kube-system"
  ];
in
# `kix` is what definitions and packages see of the library, `treePath` the exported tree's path or null.
{ kix, treePath }:
arguments:
let
  placeOf =
    field:
    errors.showPlace {
      pos = builtins.unsafeGetAttrPos field arguments;
      file = "buildCluster";
    };
  surplus = attrNames (
    removeAttrs arguments [
      "name"
      "modules"
      "specialArgs"
    ]
  );
  surplusName = builtins.head surplus;
  near = errors.nearest surplusName [
    "name"
    "modules"
    "specialArgs"
  ];
  checked =
    value:
    if surplus != [ ] then
      throw "kix.buildCluster: unknown argument \"${surplusName}\"\n  defined at ${placeOf surplusName}${
        errors.hint (if near == null then "it takes name, modules and specialArgs" else "did you mean \"${near}\"?")
      }"
    else if !(arguments ? name) then
      throw "kix.buildCluster: needs a name\nhint: write name = \"shop\""
    else if !(builtins.isList (arguments.modules or null)) then
      throw "kix.buildCluster: modules: expected a list, found ${
        errors.showValue (arguments.modules or null)
      }\n  defined at ${placeOf "modules"}\nhint: write modules = [ { … } ]"
    else
      value;
  specialArgs = arguments.specialArgs or { };

  cluster =
    (library.evalModules {
      specialArgs = specialArgs // { inherit kix; };
      modules = [
        (optionsOf { inherit outOf; })
        {
          _file = "buildCluster";
          # Keeps the place where the name was written.
          config = builtins.intersectAttrs { name = null; } arguments;
        }
      ]
      ++ checked arguments.modules;
    }).config;

  facts = cluster.cluster // { inherit (cluster) name; };
  pinArgument = pins.argumentOf cluster.pins;
  commonArguments = {
    lib = library;
    inherit kix;
    cluster = facts;
    pins = pinArgument;
  };

  # --- instances ---

  instanceOf =
    namespace: name: definition:
    let
      id = "${namespace}/${name}";
      where = "package instance ${id}";
      function = resolve.loadPackage where definition.origin definition.package;
    in
    if
      builtins.match "[a-z0-9]([-a-z0-9]*[a-z0-9])?" namespace == null
      || builtins.match "[a-z0-9]([-a-z0-9.]*[a-z0-9])?" name == null
    then
      throw "${where}: namespaces and names are lower case letters, digits and \"-\"${resolve.placeOf definition.origin}"
    else if elem name resolve.special then
      throw "${where}: an instance may not be called ${name}, which has a meaning of its own in packages${resolve.placeOf definition.origin}"
    else
      {
        inherit
          id
          namespace
          name
          function
          ;
        meta = resolve.metaOf where commonArguments function;
        inherit (definition)
          config
          deps
          aliases
          labels
          origin
          ;
        overrides = definition.resources;
        added = false;
      };
  declared = concatLists (
    mapAttrsToList (namespace: mapAttrsToList (instanceOf namespace)) cluster.instances
  );
  available = mapAttrs (key: source: rec {
    function = resolve.loadPackage "availablePackages.${key}" null source;
    meta = resolve.metaOf "availablePackages.${key}" commonArguments function;
  }) cluster.availablePackages;
  added =
    key:
    let
      inherit (available.${key}) function meta;
      namespace = meta.defaultNamespace;
    in
    {
      id = "${namespace}/${meta.name}";
      inherit namespace function meta;
      inherit (meta) name;
      config = [ ];
      deps = { };
      aliases = [ ];
      labels = { };
      overrides = { };
      origin = null;
      added = true;
    };
  resolved = resolve.resolve {
    inherit declared available;
    inherit (cluster) interfaces;
    instantiate = added;
  };
  instances = resolved.instances;

  evaluated = listToAttrs (
    map (instance: {
      name = instance.id;
      value =
        let
          dependencies = resolved.depsOf instance;
        in
        {
          inherit instance;
          ids = sortedUnique (filter (id: id != null) (builtins.attrValues dependencies));
          result = package.evaluate {
            inherit instance;
            arguments = commonArguments // {
              scope = scope.of {
                inherit (instance)
                  namespace
                  name
                  labels
                  overrides
                  origin
                  ;
                inherit libraryRoot;
              };
            };
            dependencies = mapAttrs (_: id: if id == null then null else outOf id) dependencies;
          };
        };
    }) instances
  );
  outOf = id: evaluated.${id}.result.offers;
  instanceOrder = map (instance: evaluated.${instance.id}) instances;

  # --- resources ---

  ofPackages = concatMap (e: e.result.resources) instanceOrder;
  rawOf =
    namespace:
    mapAttrsToList (
      kind:
      mapAttrsToList (
        rawName: raw:
        resource.make {
          where = if namespace == null then "clusterResources" else "resources.${namespace}";
          inherit namespace;
          inherit (raw) origin;
          args = {
            inherit kind;
          }
          // removeAttrs raw.value [ "namespace" "generated" ]
          // {
            name = rawName;
          };
        }
      )
    );
  raw = basics.flatten (
    mapAttrsToList rawOf cluster.resources ++ [ (rawOf null cluster.clusterResources) ]
  );
  packageInstances = map (
    e:
    let
      inherit (e.instance) id namespace name meta;
    in
    resource.make {
      where = "package instance ${id}";
      inherit namespace;
      inherit (e.instance) origin;
      package = id;
      args = {
        apiVersion = "kix.run/v1alpha1";
        kind = "PackageInstance";
        inherit name;
        spec = {
          package = meta.name;
          inherit (meta) version provides;
          dependsOn = e.ids;
        };
      };
    }
    // {
      own = true;
      hard = map (r: r.id) e.result.resources;
    }
  ) instanceOrder;

  made = ofPackages ++ raw ++ packageInstances;
  declaredExternals = cluster.externals ++ concatMap (e: e.result.externals) instanceOrder;
  namespacesIn = sortedUnique (concatMap (r: optional (r.namespace != null) (plain r.namespace)) made);
  namespacesThere =
    initialNamespaces
    ++ map (r: plain r.name) (filter (r: r.kind == "Namespace" && r.group == "") made)
    ++ map (e: plain e.name) (filter (e: e.kind == "Namespace") declaredExternals);
  namespaces = map (
    namespace:
    resource.make {
      where = "namespace ${namespace}";
      namespace = null;
      args = {
        kind = "Namespace";
        name = namespace;
      };
    }
  ) (filter (namespace: !(elem namespace namespacesThere)) namespacesIn);

  resources = made ++ namespaces;
  tables = document.tablesOf {
    inherit resources;
    externals = declaredExternals;
  };
  entries = map (document.entryOf { inherit tables treePath; }) resources;

  # --- what must hold ---

  packageAssertions = concatMap (
    e:
    map (a: {
      inherit (a) message hint;
      package = e.instance.id;
      resource = null;
      origin = document.originOf e.instance.origin;
    }) e.result.assertions
  ) instanceOrder;
  bindings = mapAttrs (
    role: value:
    if
      elem value.binding [
        "builtin"
        "absent"
        "external"
      ]
    then
      {
        kind = value.binding;
        provider = null;
      }
    else
      {
        kind = "provider";
        provider = value.binding;
      }
  ) cluster.cluster.roles;
  bindingAssertions = concatMap (
    role:
    let
      binding = bindings.${role};
    in
    optional (binding.provider != null && !(evaluated ? ${binding.provider})) {
      message = "cluster.roles.${role}.binding names ${binding.provider}, which is not an instance";
      hint = "instances are ${basics.concatMapStringsSep ", " (id: id) (attrNames evaluated)}";
      package = null;
      resource = null;
      origin = null;
    }
  ) (attrNames bindings);

in
{
  _type = "kix-cluster";
  inherit (cluster) name;
  config = cluster;
  activation = document.activationOf cluster.name entries;
  document = {
    schema = 1;
    cluster = {
      inherit (cluster) name;
      inherit (cluster.cluster)
        flavor
        kubernetesVersion
        availability
        zones
        nodes
        storageClasses
        ingressClasses
        priorityClasses
        runtimeClasses
        ;
      roles = bindings;
    };
    packages = map (
      e:
      let
        inherit (e.instance) meta;
      in
      {
        inherit (e.instance)
          id
          namespace
          name
          added
          ;
        package = meta.name;
        inherit (meta) version provides;
        dependsOn = e.ids;
        bringsCrds = builtins.any (r: r.kind == "CustomResourceDefinition") e.result.resources;
        origin = document.originOf e.instance.origin;
      }
    ) instanceOrder;
    resources = map (e: e.document) entries;
    assertions = packageAssertions ++ bindingAssertions ++ concatMap (e: e.assertions) entries;
    manifests = map (m: {
      inherit (m) path;
      origin = document.originOf m.origin;
    }) cluster.manifests;
    externals = map (e: {
      inherit (e)
        kind
        group
        name
        namespace
        keys
        verify
        ;
      origin = document.originOf e.origin;
    }) declaredExternals;
    scorecard = {
      inherit (cluster.scorecard) fail ignore;
    };
    pins = document.pinsOf cluster.pins entries;
  };
}
