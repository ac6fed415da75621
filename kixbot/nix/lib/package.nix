# One package instance, evaluated: its options, its resources, what it offers, what it asserts.
{
  basics,
  errors,
  modules,
  resource,
  kinds,
}:
let
  inherit (builtins)
    addErrorContext
    attrNames
    concatMap
    filter
    intersectAttrs
    isAttrs
    map
    ;
  inherit (basics) argumentsOf optional;
in
rec {
  # Resources and externals of what `build` returned, and an assertion for everything else.
  flatten =
    package: path: value:
    let
      nested = map (name: flatten package (path ++ [ name ]) value.${name}) (attrNames value);
      join = field: concatMap (found: found.${field}) nested;
      nothing = {
        resources = [ ];
        externals = [ ];
        assertions = [ ];
      };
    in
    if resource.isResource value then
      nothing // { resources = [ value ]; }
    else if resource.isExternal value then
      nothing // { externals = [ value ]; }
    else if isAttrs value && !(value ? _type) then
      {
        resources = join "resources";
        externals = join "externals";
        assertions = join "assertions";
      }
    else
      nothing
      // {
        assertions = [
          {
            message = "package instance ${package}: build returned ${errors.showValue value} at \"${basics.showPath path}\"";
            hint = "build returns resources of scope.mkResource, externals, and sets of them";
          }
        ];
      };

  # `dependencies` are { <name> = what the provider offers, or null; }, `arguments` the special ones.
  evaluate =
    {
      instance,
      arguments,
      dependencies,
    }:
    let
      inherit (instance) id function;
      package = function (intersectAttrs (argumentsOf function) (arguments // dependencies));
      config =
        (modules.evalModules {
          prefix = [
            "instances"
            instance.namespace
            instance.name
            "config"
          ];
          specialArgs = { inherit (arguments) kix cluster; };
          inherit (instance) origin;
          modules = [
            {
              _file = "package ${instance.meta.name}";
              inherit (instance.meta) options;
            }
          ]
          ++ instance.config;
        }).config;
      # A function of the package, or one that gives nothing; anything else is said by name.
      functionOf =
        field: default:
        if !(package ? ${field}) then
          default
        else if basics.isCallable package.${field} then
          package.${field}
        else
          throw "package instance ${id}: ${field}: expected a function, found ${errors.showValue package.${field}}\n  defined at ${
            errors.showPlace {
              pos = builtins.unsafeGetAttrPos field package;
              file = "package ${instance.meta.name}";
            }
          }";
      built = addErrorContext "while building package instance '${id}'" (
        functionOf "build" (_: { }) config
      );
      found = flatten id [ ] built;
      offered =
        addErrorContext "while evaluating what package instance '${id}' offers" (
          functionOf "out" (_: { }) built
        );
      failed = filter (a: !a.assertion) (functionOf "assertions" (_: [ ]) config);
    in
    {
      inherit (found) resources externals;
      inherit config;
      # Under `.out` and directly.
      offers = offered // {
        out = offered;
      };
      assertions =
        found.assertions
        ++ map (a: {
          message = "package instance ${id}: ${a.message}";
          hint = a.hint or null;
        }) failed
        ++ unmatched instance found.resources;
    };

  # Overrides that change nothing.
  unmatched =
    instance: resources:
    let
      givenName = r: builtins.unsafeDiscardStringContext r.givenName;
      shown = r: "${r.kind}.${givenName r}";
      isOfKind = kind: r: r.kind == kind || kinds.kindGroup r.kind r.group == kind;
      named = kind: name: filter (r: isOfKind kind r && givenName r == name) resources;
      where = "instances.${instance.namespace}.${instance.name}.resources";
      hintFor =
        kind: name:
        let
          near = errors.nearest "${kind}.${name}" (map shown resources);
        in
        if near == null then
          "the package makes ${basics.concatMapStringsSep ", " shown resources}"
        else
          "did you mean ${near}?";
      ofKind =
        kind:
        concatMap (
          name:
          optional (named kind name == [ ]) {
            message = "${where}.${kind}.${name} matches no resource of package ${instance.meta.name}";
            hint = hintFor kind name;
          }
          ++ concatMap (
            r:
            map (path: {
              message = "${where}.${kind}.${name}: mapByName edits ${path}, which is not there";
              hint = null;
            }) r.unmatched
          ) (named kind name)
        ) (attrNames instance.overrides.${kind});
    in
    concatMap ofKind (attrNames instance.overrides);
}
