# The module system: options, definitions and how definitions merge. Own and small, with the conventions and the
# `_type` tags of nixpkgs' lib.modules, so that modules written for either evaluate in both.
# Only builtins of Nix 2.8. Definitions keep their position (file and line) so that errors can say where.
{
  basics,
  errors,
  # the whole library, handed to modules as `lib`
  self,
}:
let
  inherit (builtins)
    addErrorContext
    all
    attrNames
    concatLists
    concatMap
    filter
    foldl'
    genericClosure
    head
    isAttrs
    isBool
    isFunction
    length
    map
    mapAttrs
    removeAttrs
    sort
    unsafeGetAttrPos
    zipAttrsWith
    ;
  inherit (basics)
    argumentsOf
    imap1
    isCallable
    min
    optional
    reverseList
    showPath
    ;
  types = self.types;
  defaultPriority = 100;
  defaultOrder = 1000;
in
rec {
  mkOption = attributes: attributes // { _type = "option"; };
  mkEnableOption =
    what:
    mkOption {
      default = false;
      example = true;
      description = "Whether to enable ${what}.";
      type = types.bool;
    };
  mkIf = condition: content: {
    _type = "if";
    inherit condition content;
  };
  mkMerge = contents: {
    _type = "merge";
    inherit contents;
  };
  mkOverride = priority: content: {
    _type = "override";
    inherit priority content;
  };
  mkOptionDefault = mkOverride 1500;
  mkDefault = mkOverride 1000;
  mkForce = mkOverride 50;
  mkOrder = priority: content: {
    _type = "order";
    inherit priority content;
  };
  mkBefore = mkOrder 500;
  mkAfter = mkOrder 1500;

  tagOf = value: if isAttrs value then value._type or null else null;
  isOption = value: tagOf value == "option";

  # --- modules ---

  applyModule =
    args: key: module:
    let
      wanted = mapAttrs (
        name: _:
        addErrorContext "while evaluating the module argument `${name}' in `${key}'" (
          args.${name} or args.config._module.args.${name}
        )
      ) (argumentsOf module);
    in
    if isCallable module then module (args // wanted) else module;

  # A module in one shape: { file key imports disabledModules options config }.
  unifyModule =
    file: key: module:
    let
      own = [
        "_class"
        "_file"
        "key"
        "disabledModules"
        "imports"
        "options"
        "config"
        "freeformType"
        "meta"
      ];
      isLong = module ? config || module ? options;
      surplus = attrNames (removeAttrs module own);
      plain = removeAttrs module [
        "_class"
        "_file"
        "key"
        "disabledModules"
        "imports"
        "freeformType"
      ];
      config = if isLong then module.config or { } else plain;
    in
    if isLong && surplus != [ ] then
      throw ''
        module ${toString (module._file or file)}: "${head surplus}" stands beside "config" or "options"
        hint: move it into "config"''
    else
      {
        file = toString (module._file or file);
        key = toString (module.key or key);
        imports = module.imports or [ ];
        disabledModules = module.disabledModules or [ ];
        options = module.options or { };
        config =
          if module ? freeformType then
            mkMerge [
              config
              { _module.freeformType = module.freeformType; }
            ]
          else
            config;
      };

  loadModule =
    args: file: key: module:
    let
      path = toString module;
    in
    if isCallable module then
      unifyModule file key (applyModule args key module)
    else if isAttrs module && (module._type or "module") != "module" then
      unifyModule file key { config = module; }
    else if isAttrs module then
      unifyModule file key module
    else if builtins.isPath module || builtins.isString module then
      unifyModule path path (applyModule args path (import module))
    else
      throw "module ${key}: expected a set, a function or a path, found ${errors.showValue module}";

  collectModules =
    args: modules:
    let
      structured =
        file: key:
        imap1 (
          n: module:
          let
            loaded = loadModule args file "${key}:anon-${toString n}" module;
          in
          {
            inherit (loaded) key;
            module = loaded;
            children = structured loaded.file loaded.key loaded.imports;
          }
        );
      roots = structured "<definition>" "" modules;
      disabledIn =
        entries: concatMap (e: e.module.disabledModules ++ disabledIn e.children) entries;
      keyOf = entry: toString (if isAttrs entry then entry.key else entry);
      disabled = map keyOf (disabledIn roots);
      kept = filter (entry: !(builtins.elem entry.key disabled));
    in
    map (entry: entry.module) (genericClosure {
      startSet = kept roots;
      operator = entry: kept entry.children;
    });

  setDefaultModuleLocation = file: module: {
    _file = file;
    imports = [ module ];
  };

  # `{ modules, prefix ? [], specialArgs ? {} }` → `{ config, options }`. Throws on unknown options and wrong types.
  # `origin` is the place of the set that is being typed, for options that should have been set there.
  evalModules =
    {
      modules,
      prefix ? [ ],
      specialArgs ? { },
      origin ? null,
    }:
    let
      internal = {
        _file = "kix/lib/modules.nix";
        key = "kix:module-options";
        options._module = {
          args = mkOption {
            type = types.lazyAttrsOf types.raw;
            default = { };
            description = "Arguments every module of this evaluation may name.";
          };
          hint = mkOption {
            type = types.nullOr types.str;
            default = null;
            description = "What to say where a definition has no option and none is like it.";
          };
          check = mkOption {
            type = types.bool;
            default = true;
            description = "Whether definitions without an option are an error.";
          };
          freeformType = mkOption {
            type = types.nullOr types.raw;
            default = null;
            description = "The type of definitions without an option, where they are allowed.";
          };
        };
      };
      args = {
        lib = self;
        inherit config options;
      }
      // specialArgs;
      collected = reverseList (collectModules args (modules ++ [ internal ]));
      merged = mergeModules origin prefix (map (m: { inherit (m) file options; }) collected) (
        map (m: {
          inherit (m) file;
          value = m.config;
        }) collected
      );
      options = merged.options;
      freeform = declared._module.freeformType;
      declared = merged.config;
      free = mergeFree prefix freeform merged.unmatched;
      config = if freeform == null then declared else basics.recursiveUpdate free declared;
      check = declared._module.check && freeform == null && merged.unmatched != [ ];
      checked =
        value:
        if check then
          errors.unknownOption {
            inherit (head merged.unmatched) loc siblings;
            definition = head merged.unmatched;
            hint = declared._module.hint;
          }
        else
          value;
    in
    {
      inherit options;
      config = checked (removeAttrs config [ "_module" ]);
    };

  mergeFree =
    prefix: type: unmatched:
    let
      nested =
        path: value:
        if path == [ ] then value else { ${head path} = nested (builtins.tail path) value; };
      dropPrefix = loc: builtins.genList (n: builtins.elemAt loc (n + length prefix)) (length loc - length prefix);
    in
    if unmatched == [ ] then
      { }
    else
      (mergeDefinitions prefix type (
        map (u: {
          inherit (u) file pos;
          # The set below is made here, so its members have no place of their own.
          placeOfAll = u.pos;
          value = nested (dropPrefix u.loc) u.value;
        }) unmatched
      )).mergedValue;

  # --- merging ---

  # Conditions and priorities around a set move onto its members; the set itself stays as written, for its positions.
  pushDown =
    loc: definition:
    let
      go =
        wrap: value:
        let
          tag = tagOf value;
        in
        if tag == "merge" then
          concatMap (go wrap) value.contents
        else if tag == "if" then
          go (v: wrap (mkIf value.condition v)) value.content
        else if tag == "override" then
          go (v: wrap (mkOverride value.priority v)) value.content
        else if tag == "order" then
          go (v: wrap (mkOrder value.priority v)) value.content
        else if isAttrs value then
          [
            {
              inherit (definition) file;
              set = value;
              inherit wrap;
            }
          ]
        else
          errors.wrongType {
            inherit loc;
            expected = "a set of options";
            definitions = [ (definition // { inherit value; }) ];
          };
    in
    go (v: v) definition.value;

  # decls: [{ file options }], defs: [{ file value }] → { options config unmatched }.
  mergeModules =
    origin: prefix: decls: defs:
    let
      declsByName = zipAttrsWith (_: found: found) (
        map (d: mapAttrs (name: options: {
          inherit (d) file;
          pos = unsafeGetAttrPos name d.options;
          inherit options;
        }) d.options) decls
      );
      pushed = concatMap (pushDown prefix) defs;
      definitionsOf =
        name:
        concatMap (
          p:
          optional (p.set ? ${name}) {
            inherit (p) file;
            pos = unsafeGetAttrPos name p.set;
            value = p.wrap p.set.${name};
          }
        ) pushed;
      names = attrNames declsByName;
      unmatchedHere = concatMap (
        p:
        map (name: {
          inherit (p) file;
          pos = unsafeGetAttrPos name p.set;
          loc = prefix ++ [ name ];
          value = p.wrap p.set.${name};
          siblings = filter (n: n != "_module") names;
        }) (attrNames (removeAttrs p.set names))
      ) pushed;
      matched = mapAttrs (
        name: found:
        let
          loc = prefix ++ [ name ];
          declarations = filter (d: isOption d.options) found;
        in
        if declarations == [ ] then
          mergeModules origin loc found (definitionsOf name)
        else if length declarations < length found then
          throw "option \"${showPath loc}\": declared as an option and as a set of options\n  declared at ${errors.showPlace (head declarations)}"
        else
          let
            option = evalOption origin loc (mergeDeclarations loc declarations) (definitionsOf name);
          in
          {
            options = option;
            config = option.value;
            unmatched = [ ];
          }
      ) declsByName;
    in
    {
      options = mapAttrs (_: m: m.options) matched;
      config = mapAttrs (_: m: m.config) matched;
      unmatched = unmatchedHere ++ concatLists (map (name: matched.${name}.unmatched) names);
    };

  mergeDeclarations =
    loc: declarations:
    foldl' (
      merged: declaration:
      let
        option = declaration.options;
        both = merged.type.typeMerge option.type.functor;
        clash = attrNames (
          builtins.intersectAttrs (removeAttrs merged [
            "_type"
            "type"
            "declarations"
            "description"
          ]) option
        );
      in
      if clash != [ ] then
        throw "option \"${showPath loc}\": \"${head clash}\" is declared twice\n  declared at ${errors.showPlace declaration} and in ${showDeclarations merged}"
      else if merged ? type && option ? type && both == null then
        throw "option \"${showPath loc}\": declared with types that do not fit together\n  declared at ${errors.showPlace declaration} and in ${showDeclarations merged}"
      else
        merged
        // option
        // {
          declarations = merged.declarations ++ [ (errors.showPlace declaration) ];
        }
        // (if merged ? type && option ? type then { type = both; } else { })
    ) { declarations = [ ]; } declarations;
  showDeclarations = option: builtins.concatStringsSep ", " option.declarations;

  evalOption =
    origin: loc: declared: definitions:
    let
      option = {
        type = types.unspecified;
      }
      // declared;
      default = optional (option ? default) {
        file = head option.declarations;
        pos = null;
        value = mkOptionDefault option.default;
      };
      merged = mergeDefinitions loc option.type (default ++ definitions);
      places = map errors.showPlace definitions;
      twice = (option.readOnly or false) && length (default ++ definitions) > 1;
    in
    option
    // {
      inherit loc;
      value =
        if twice then
          throw "option \"${showPath loc}\" is read-only, but set\n  defined at ${head places}"
        else
          addErrorContext "while evaluating the option `${showPath loc}':" (
            (option.apply or (v: v)) (
              if merged.isDefined then
                merged.mergedValue
              else
                errors.noValue {
                  inherit loc origin;
                  inherit (option) declarations;
                  expected = option.type.description or option.type.name;
                }
            )
          );
      isDefined = merged.isDefined;
      files = map (d: d.file) merged.definitions;
      definitionsWithLocations = merged.definitions;
    };

  # Conditions decided, merges opened: a list of plain values (with `order` and `override` still on them).
  discharge =
    value:
    let
      tag = tagOf value;
    in
    if tag == "merge" then
      concatMap discharge value.contents
    else if tag == "if" then
      if isBool value.condition then
        (if value.condition then discharge value.content else [ ])
      else
        throw "mkIf: the condition is ${errors.showValue value.condition}, not a boolean"
    else
      [ value ];

  priorityOf = value: if tagOf value == "override" then value.priority else defaultPriority;
  # The winning definitions of the highest priority; an order tag may stand inside or outside of an override.
  winning =
    definitions:
    let
      highest = foldl' (best: d: min best (priorityOf d.value)) 9999 definitions;
      strip =
        d:
        if tagOf d.value == "override" then
          map (value: d // { inherit value; }) (discharge d.value.content)
        else
          [ d ];
      kept = concatMap strip (filter (d: priorityOf d.value == highest) definitions);
    in
    if all (d: tagOf d.value != "override") definitions then
      definitions
    else if builtins.any (d: tagOf d.value == "override") kept then
      winning kept
    else
      kept;
  ordered =
    definitions:
    let
      rank = d: if tagOf d.value == "order" then d.value.priority else defaultOrder;
      plain = map (
        d:
        d
        // {
          rank = rank d;
          value = if tagOf d.value == "order" then d.value.content else d.value;
        }
      ) definitions;
    in
    if all (d: tagOf d.value != "order") definitions then
      definitions
    else
      map (d: removeAttrs d [ "rank" ]) (sort (a: b: a.rank < b.rank) plain);

  # definitions: [{ file pos? value }] → { mergedValue isDefined optionalValue definitions }.
  mergeDefinitions =
    loc: type: definitions:
    let
      discharged = concatMap (d: map (value: d // { inherit value; }) (discharge d.value)) definitions;
      final = ordered (winning discharged);
      wrong = filter (d: !(type.check d.value)) final;
      isDefined = final != [ ];
      mergedValue =
        if !isDefined then
          errors.noValue {
            inherit loc;
            expected = type.description or type.name;
          }
        else if wrong != [ ] then
          errors.wrongType {
            inherit loc;
            expected = type.description or type.name;
            definitions = wrong;
          }
        else
          type.merge loc final;
    in
    {
      inherit isDefined mergedValue;
      definitions = final;
      optionalValue = if isDefined then { value = mergedValue; } else { };
    };

  mergeOneOption =
    loc: definitions:
    if length definitions == 1 then
      (head definitions).value
    else
      errors.conflict { inherit loc definitions; };
  # All definitions must say the same.
  mergeEqualOption =
    loc: definitions:
    let
      first = (head definitions).value;
    in
    if length definitions == 1 || all (d: !isFunction d.value && d.value == first) definitions then
      first
    else
      errors.conflict { inherit loc definitions; };
}
