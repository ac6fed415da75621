# Which instance satisfies a dependency, and which packages must be added for that.
#
# A dependency is an argument of the package's function that has no meaning of its own. It is settled by
# `deps.<name>`; else found in the same namespace by instance name, alias or provided interface; else by
# `interfaces.<name>.provider`; else it is the only provider in the cluster; else a package of `availablePackages`
# that has a default namespace is added. An instance name in another namespace never counts.
{ basics, errors }:
let
  inherit (builtins)
    attrNames
    concatMap
    elem
    filter
    genericClosure
    hasAttr
    head
    isAttrs
    length
    listToAttrs
    map
    mapAttrs
    ;
  inherit (basics)
    argumentsOf
    concatMapStringsSep
    isCallable
    optional
    optionalString
    sortedUnique
    ;
  special = [
    "scope"
    "lib"
    "kix"
    "cluster"
    "pins"
  ];
in
rec {
  inherit special;

  placeOf =
    origin: optionalString (origin != null) "\n  defined at ${errors.showPlace { pos = origin; }}";

  loadPackage =
    where: origin: package:
    let
      loaded = if builtins.isPath package || builtins.isString package then import package else package;
    in
    if isCallable loaded then
      loaded
    else
      throw "${where}: a package is a function or the path of a file that holds one, found ${errors.showValue loaded}${placeOf origin}";

  # Name, version, interfaces, options and default namespace, read without any dependency at hand.
  metaOf =
    where: arguments: function:
    let
      shown = "name, version, provides, options and defaultNamespace";
      blind =
        name:
        if name == "scope" then
          throw "${where}: ${shown} may not depend on scope"
        else
          throw "${where}: ${shown} may not depend on the dependency '${name}'";
      package = function (
        mapAttrs (name: _: if name != "scope" && hasAttr name arguments then arguments.${name} else blind name) (
          argumentsOf function
        )
      );
    in
    if !(isAttrs package) then
      throw "${where}: the package gives ${errors.showValue package}, not a set with name and build"
    else
      {
        name = package.name or (throw "${where}: the package has no name\nhint: write name = \"…\"");
        version = package.version or null;
        provides = package.provides or [ ];
        options = package.options or { };
        defaultNamespace = package.defaultNamespace or null;
      };

  # declared: [instance]; an instance is { id namespace name function meta deps aliases added origin … }.
  # Gives { instances, depsOf }, `depsOf id` being { <dependency> = id or null; }.
  resolve =
    {
      declared,
      interfaces,
      available,
      instantiate,
    }:
    let
      byId = instances: listToAttrs (map (i: { name = i.id; value = i; }) instances);
      declaredById = byId declared;
      # Instances by each of the names that `names` gives them.
      indexBy =
        names: list:
        mapAttrs (_: map (pair: pair.instance)) (
          builtins.groupBy (pair: pair.name) (
            concatMap (instance: map (name: { inherit name instance; }) (names instance)) list
          )
        );
      provided = indexBy (i: i.meta.provides);
      providers = provided declared;
      byNamespace = builtins.groupBy (i: i.namespace) declared;
      indexes = mapAttrs (_: list: {
        named = indexBy (i: [ i.name ]) list;
        aliased = indexBy (i: i.aliases) list;
        provided = provided list;
      }) byNamespace;
      needs = instance: filter (name: !(elem name special)) (attrNames (argumentsOf instance.function));
      isOptional = instance: name: (argumentsOf instance.function).${name};

      ambiguous =
        instance: name: candidates:
        throw ''
          '${name}' is ambiguous for ${instance.id}: ${ids candidates} fit${place instance}
          hint: write instances.${instance.namespace}.${instance.name}.deps.${name} = "${(head candidates).id}"'';
      ids = candidates: concatMapStringsSep ", " (id: id) (sortedUnique (map (i: i.id) candidates));
      place = instance: placeOf instance.origin;

      # One of several, or null for none; a provider that the definition names decides.
      only =
        instance: name: candidates:
        let
          named = filter (i: i.id == providerOf instance.namespace name) candidates;
        in
        if candidates == [ ] then
          null
        else if length candidates == 1 then
          head candidates
        else if named != [ ] then
          head named
        else
          ambiguous instance name candidates;
      providerOf =
        namespace: name:
        let
          entry = interfaces.${name} or { };
          own = (entry.namespaces or { }).${namespace} or { };
        in
        if own.provider or null != null then own.provider else entry.provider or null;
      existing =
        instance: what: id: known:
        known.${id} or (throw ''
          ${what} names '${id}', which is not an instance${place instance}
          hint: instances are ${if known == { } then "(none)" else concatMapStringsSep ", " (n: n) (attrNames known)}'');

      # Among the declared instances only: what is added never changes what another dependency finds.
      findDeclared =
        instance: name:
        let
          others = filter (i: i.id != instance.id);
          here = indexes.${instance.namespace} or { };
          inIndex = kind: others ((here.${kind} or { }).${name} or [ ]);
          wanted = providerOf instance.namespace name;
          anywhere = others (providers.${name} or [ ]);
          firstOf =
            steps:
            let
              found = filter (candidates: candidates != [ ]) steps;
            in
            if found == [ ] then null else only instance name (head found);
          inNamespace = firstOf (map inIndex [ "named" "aliased" "provided" ]);
        in
        if inNamespace != null then
          inNamespace
        else if wanted != null && wanted != instance.id then
          existing instance "interfaces.${name}.provider" wanted declaredById
        else
          only instance name anywhere;

      candidatesFor =
        name:
        let
          exact = optional (hasAttr name available) name;
          meta = key: available.${key}.meta;
          fitting = filter (key: (meta key).name == name || elem name (meta key).provides) (attrNames available);
        in
        if exact != [ ] then exact else fitting;
      # A package to add, as an instance; null where there is none.
      findAvailable =
        instance: name:
        let
          placed = filter (key: available.${key}.meta.defaultNamespace != null) (candidatesFor name);
          added = instantiate (head placed);
        in
        if placed == [ ] then
          null
        else if length placed > 1 then
          throw ''
            '${name}' is ambiguous for ${instance.id}: packages ${concatMapStringsSep ", " (n: n) placed} fit${place instance}
            hint: make an instance of one of them''
        else if hasAttr added.id declaredById then
          throw ''
            '${name}' cannot be added for ${instance.id}: ${added.id} is another package${place instance}
            hint: write instances.${instance.namespace}.${instance.name}.deps.${name}''
        else
          added;

      missing =
        instance: name:
        let
          others = filter (i: i.id != instance.id) (byNamespace.${instance.namespace} or [ ]);
          here = sortedUnique (map (i: i.name) others);
          offered = map (
            interface: "${interface} by ${ids providers.${interface}}"
          ) (attrNames providers);
          could = candidatesFor name;
          elsewhere = filter (i: i.name == name && i.namespace != instance.namespace) declared;
          near = errors.nearest name (here ++ attrNames providers);
        in
        throw ''
          no '${name}' found in cluster for namespace '${instance.namespace}'
            needed by ${instance.id} (package ${instance.meta.name})${place instance}
            instances in ${instance.namespace}: ${listed here}
            interfaces provided: ${listed offered}
          hint: ${
            if elsewhere != [ ] then
              "${(head elsewhere).id} is in another namespace: write instances.${instance.namespace}.${instance.name}.deps.${name} = \"${(head elsewhere).id}\""
            else if near != null then
              "did you mean '${near}'?"
            else if could != [ ] then
              "write instances.${instance.namespace}.${name}.package = packages.${head could}"
            else
              "make an instance that is called or provides '${name}', or settle instances.${instance.namespace}.${instance.name}.deps.${name}"
          }'';
      listed = names: if names == [ ] then "(none)" else concatMapStringsSep ", " (n: n) names;

      # Required dependencies that no declared instance satisfies add packages; those may need more.
      additions =
        instance:
        concatMap (
          name:
          let
            settled = hasAttr name instance.deps;
            found = if settled then null else findDeclared instance name;
            added = findAvailable instance name;
          in
          if settled || isOptional instance name || found != null then
            [ ]
          else if added == null then
            missing instance name
          else
            [ added ]
        ) (needs instance);
      closure = genericClosure {
        startSet = map (instance: { key = instance.id; inherit instance; }) declared;
        operator =
          item: map (instance: { key = instance.id; inherit instance; }) (additions item.instance);
      };
      instances = map (item: item.instance) closure;
      allById = byId instances;
      addedProviders = provided (filter (i: i.added) instances);

      find =
        instance: name:
        let
          wanted = instance.deps.${name};
          found = findDeclared instance name;
          extra = filter (i: i.id != instance.id) (addedProviders.${name} or [ ]);
          id =
            if hasAttr name instance.deps then
              if wanted != null then
                (existing instance "instances.${instance.namespace}.${instance.name}.deps.${name}" wanted allById).id
              else if isOptional instance name then
                null
              else
                throw ''
                  instances.${instance.namespace}.${instance.name}.deps.${name} is null, but package ${instance.meta.name} needs '${name}'${place instance}
                  hint: name an instance, as "namespace/name"''
            else if found != null then
              found.id
            else if !(isOptional instance name) then
              (findAvailable instance name).id
            else if extra == [ ] then
              null
            else
              (only instance name extra).id;
        in
        id;
      surplusDeps =
        instance:
        let
          surplus = filter (name: !(elem name (needs instance))) (attrNames instance.deps);
        in
        if surplus == [ ] then
          true
        else
          throw ''
            instances.${instance.namespace}.${instance.name}.deps.${head surplus}: package ${instance.meta.name} has no such dependency${place instance}
            hint: it has ${listed (needs instance)}'';
    in
    {
      inherit instances;
      depsOf =
        instance:
        assert surplusDeps instance;
        listToAttrs (
          map (name: {
            inherit name;
            value = find instance name;
          }) (needs instance)
        );
    };
}
