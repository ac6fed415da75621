# Option types. Each is a set with the members that nixpkgs' types have (`check`, `merge loc definitions`, `functor`,
# `typeMerge`, `emptyValue`, `nestedTypes`), so that types of either library can be used in either module system.
{
  basics,
  errors,
  modules,
}:
let
  inherit (builtins)
    all
    attrNames
    concatLists
    concatMap
    concatStringsSep
    elem
    filter
    foldl'
    head
    isAttrs
    isBool
    isFloat
    isInt
    isList
    isPath
    isString
    length
    listToAttrs
    map
    mapAttrs
    match
    toJSON
    unsafeGetAttrPos
    zipAttrsWith
    ;
  inherit (basics)
    imap1
    isCallable
    last
    showPath
    toList
    ;
  inherit (modules)
    evalModules
    mergeDefinitions
    mergeEqualOption
    mergeOneOption
    setDefaultModuleLocation
    ;

  defaultFunctor = name: {
    inherit name;
    type = types.${name} or null;
    wrapped = null;
    payload = null;
    binOp = _: _: null;
  };
  # Two declarations of one option: the type that holds both, or null.
  defaultTypeMerge =
    f: g:
    let
      wrapped = f.wrapped.typeMerge g.wrapped.functor;
      payload = f.binOp f.payload g.payload;
    in
    if f.name != g.name then
      null
    else if f.wrapped != null && g.wrapped != null then
      (if wrapped == null then null else f.type wrapped)
    else if f.payload != null && g.payload != null then
      (if payload == null then null else f.type payload)
    else
      f.type;

  ofElements =
    name: constructor: element: attributes:
    mkOptionType (
      {
        inherit name;
        nestedTypes.elemType = element;
        functor = defaultFunctor name // {
          wrapped = element;
          type = constructor;
        };
      }
      // attributes
    );

  mkOptionType =
    {
      name,
      description ? name,
      check ? _: true,
      merge ? mergeDefault,
      emptyValue ? { },
      getSubOptions ? _: { },
      getSubModules ? null,
      substSubModules ? _: null,
      functor ? defaultFunctor name,
      typeMerge ? defaultTypeMerge functor,
      nestedTypes ? { },
      deprecationMessage ? null,
    }:
    {
      _type = "option-type";
      inherit
        name
        description
        check
        merge
        emptyValue
        getSubOptions
        getSubModules
        substSubModules
        functor
        typeMerge
        nestedTypes
        deprecationMessage
        ;
    };

  # Without a rule of its own: one definition, or lists joined, or sets joined, or equal values.
  mergeDefault =
    loc: definitions:
    let
      values = map (d: d.value) definitions;
    in
    if length values == 1 then
      head values
    else if all isList values then
      concatLists values
    else if all isAttrs values then
      foldl' (a: b: a // b) { } values
    else
      mergeEqualOption loc definitions;

  simple =
    name: description: check:
    mkOptionType {
      inherit name description check;
      merge = mergeEqualOption;
    };

  between =
    lowest: highest:
    simple "intBetween" "an integer between ${toString lowest} and ${toString highest}" (
      v: isInt v && v >= lowest && v <= highest
    );

  # Set members one level down, each with the place where it was written.
  membersByName =
    definitions:
    zipAttrsWith (_: found: found) (
      map (
        d:
        mapAttrs (
          name: value:
          {
            inherit (d) file;
            pos = d.placeOfAll or (unsafeGetAttrPos name d.value);
            inherit value;
          }
          // (if d ? placeOfAll then { inherit (d) placeOfAll; } else { })
        ) d.value
      ) definitions
    );

  attrsOfWith =
    lazy: element:
    let
      name = if lazy then "lazyAttrsOf" else "attrsOf";
    in
    ofElements name (attrsOfWith lazy) element {
      description = "a set, each member ${element.description}";
      check = isAttrs;
      emptyValue.value = { };
      getSubOptions = prefix: element.getSubOptions (prefix ++ [ "<name>" ]);
      getSubModules = element.getSubModules;
      substSubModules = m: attrsOfWith lazy (element.substSubModules m);
      merge =
        loc: definitions:
        let
          merged = mapAttrs (name: mergeDefinitions (loc ++ [ name ]) element) (membersByName definitions);
        in
        if lazy then
          mapAttrs (
            _: m: if m.isDefined then m.mergedValue else element.emptyValue.value or m.mergedValue
          ) merged
        else
          listToAttrs (
            concatMap (
              name:
              let
                m = merged.${name};
              in
              if m.isDefined then
                [
                  {
                    inherit name;
                    value = m.mergedValue;
                  }
                ]
              else
                [ ]
            ) (attrNames merged)
          );
    };

  types = rec {
    inherit mkOptionType;

    str = simple "str" "a string" isString;
    nonEmptyStr = simple "nonEmptyStr" "a string that is not empty" (
      v: isString v && match "[ \t\r\n]*" v == null
    );
    lines = mkOptionType {
      name = "separatedString";
      description = "lines of text";
      check = isString;
      merge = _: definitions: concatStringsSep "\n" (map (d: d.value) definitions);
    };
    strMatching =
      pattern:
      simple "strMatching ${toJSON pattern}" "a string that matches ${pattern}" (
        v: isString v && match pattern v != null
      );
    bool = simple "bool" "a boolean" isBool;
    int = simple "int" "an integer" isInt;
    ints = {
      inherit between;
      unsigned = simple "unsignedInt" "an integer that is 0 or more" (v: isInt v && v >= 0);
      positive = simple "positiveInt" "a positive integer" (v: isInt v && v > 0);
      u8 = between 0 255;
      u16 = between 0 65535;
      u32 = between 0 4294967295;
      s8 = between (-128) 127;
      s16 = between (-32768) 32767;
      s32 = between (-2147483648) 2147483647;
    };
    port = simple "port" "a port, an integer between 0 and 65535" (v: isInt v && v >= 0 && v <= 65535);
    float = simple "float" "a float" isFloat;
    number = simple "number" "a number" (v: isInt v || isFloat v);
    path = simple "path" "an absolute path" (
      v: isPath v || (isString v && builtins.substring 0 1 v == "/")
    );
    unspecified = mkOptionType {
      name = "unspecified";
      description = "any value";
    };
    raw = mkOptionType {
      name = "raw";
      description = "any value";
      merge = mergeOneOption;
    };
    attrs = mkOptionType {
      name = "attrs";
      description = "a set";
      check = isAttrs;
      emptyValue.value = { };
      merge = _: foldl' (merged: d: merged // d.value) { };
    };

    # Sets merge member by member, functions by their results, all else must be equal.
    anything = mkOptionType {
      name = "anything";
      description = "anything";
      merge =
        loc: definitions:
        let
          isWhole = value: isAttrs value && (value ? outPath || value ? __toString || value ? _type);
          kindOf = value: if isWhole value then "whole" else builtins.typeOf value;
          kinds = unique' (map (d: kindOf d.value) definitions);
        in
        if length kinds > 1 then
          errors.conflict { inherit loc definitions; }
        else if kinds == [ "set" ] then
          (attrsOf anything).merge loc definitions
        else if kinds == [ "whole" ] then
          mergeOneOption loc definitions
        else if kinds == [ "lambda" ] then
          argument:
          anything.merge (loc ++ [ "<function body>" ]) (
            map (d: {
              inherit (d) file;
              value = d.value argument;
            }) definitions
          )
        else
          mergeEqualOption loc definitions;
    };

    enum =
      values:
      mkOptionType {
        name = "enum";
        description = "one of ${basics.concatMapStringsSep ", " toJSON values}";
        check = v: elem v values;
        merge = mergeEqualOption;
        functor = defaultFunctor "enum" // {
          payload = values;
          type = enum;
          binOp = a: b: unique' (a ++ b);
        };
      };

    nullOr =
      element:
      ofElements "nullOr" nullOr element {
        description = "null or ${element.description}";
        check = v: v == null || element.check v;
        emptyValue.value = null;
        getSubOptions = element.getSubOptions;
        getSubModules = element.getSubModules;
        substSubModules = m: nullOr (element.substSubModules m);
        merge =
          loc: definitions:
          let
            nulls = filter (d: d.value == null) definitions;
          in
          if nulls == [ ] then
            element.merge loc definitions
          else if length nulls == length definitions then
            null
          else
            errors.conflict { inherit loc definitions; };
      };

    listOf =
      element:
      ofElements "listOf" listOf element {
        description = "a list, each item ${element.description}";
        check = isList;
        emptyValue.value = [ ];
        getSubOptions = prefix: element.getSubOptions (prefix ++ [ "*" ]);
        getSubModules = element.getSubModules;
        substSubModules = m: listOf (element.substSubModules m);
        merge =
          loc: definitions:
          let
            entry =
              n: d: m: value:
              mergeDefinitions (loc ++ [ "[definition ${toString n}-entry ${toString m}]" ]) element [
                {
                  inherit (d) file;
                  pos = d.pos or null;
                  inherit value;
                }
              ];
            merged = concatLists (imap1 (n: d: imap1 (entry n d) d.value) definitions);
          in
          map (m: m.mergedValue) (filter (m: m.isDefined) merged);
      };

    attrsOf = attrsOfWith false;
    lazyAttrsOf = attrsOfWith true;

    # One definition only, with the reason why.
    unique = { message }: element: element // {
      merge =
        loc: definitions:
        if length definitions == 1 then
          element.merge loc definitions
        else
          throw "option \"${showPath loc}\": set more than once: ${message}${
            basics.concatStrings (map (d: "\n  defined at ${errors.showPlace d}") definitions)
          }";
    };
    uniq = types.unique { message = "one definition is allowed"; };

    addCheck =
      element: check:
      element
      // {
        check = v: element.check v && check v;
      };

    either =
      left: right:
      mkOptionType {
        name = "either";
        description = "${left.description} or ${right.description}";
        check = v: left.check v || right.check v;
        merge =
          loc: definitions:
          if all (d: left.check d.value) definitions then
            left.merge loc definitions
          else if all (d: right.check d.value) definitions then
            right.merge loc definitions
          else
            errors.conflict { inherit loc definitions; };
        functor = defaultFunctor "either" // {
          wrapped = null;
        };
        typeMerge = _: null;
        nestedTypes = {
          inherit left right;
        };
      };
    oneOf = alternatives: foldl' either (head alternatives) (builtins.tail alternatives);

    coercedTo =
      from: function: to:
      mkOptionType {
        name = "coercedTo";
        description = "${to.description} or ${from.description} convertible to it";
        check = v: to.check v || (from.check v && to.check (function v));
        merge =
          loc: definitions:
          to.merge loc (
            map (d: d // { value = if from.check d.value then function d.value else d.value; }) definitions
          );
        emptyValue = to.emptyValue;
        getSubOptions = to.getSubOptions;
        getSubModules = to.getSubModules;
        substSubModules = m: coercedTo from function (to.substSubModules m);
        typeMerge = _: null;
        nestedTypes = {
          coercedType = from;
          finalType = to;
        };
      };

    functionTo =
      result:
      ofElements "functionTo" functionTo result {
        description = "a function that gives ${result.description}";
        check = isCallable;
        merge =
          loc: definitions: argument:
          (mergeDefinitions (loc ++ [ "<function body>" ]) result (
            map (d: {
              inherit (d) file;
              pos = d.pos or null;
              value = d.value argument;
            }) definitions
          )).mergedValue;
      };

    submodule =
      module:
      submoduleWith {
        modules = toList module;
        shorthandOnlyDefinesConfig = true;
      };
    submoduleWith =
      arguments@{
        modules,
        specialArgs ? { },
        shorthandOnlyDefinesConfig ? false,
        description ? "a set of options",
      }:
      let
        evaluate =
          loc: origin: extra:
          evalModules {
            prefix = loc;
            inherit origin specialArgs;
            modules = modules ++ [ { _module.args.name = mkOptionDefault (last loc); } ] ++ extra;
          };
        mkOptionDefault = content: {
          _type = "override";
          priority = 1500;
          inherit content;
        };
        toModule =
          d:
          if isAttrs d.value && shorthandOnlyDefinesConfig then
            {
              _file = d.file;
              config = d.value;
            }
          else
            setDefaultModuleLocation d.file d.value;
      in
      mkOptionType {
        name = "submodule";
        inherit description;
        check = v: isAttrs v || isCallable v || isPath v;
        emptyValue.value = { };
        merge =
          loc: definitions:
          (evaluate loc ((head definitions).pos or null) (map toModule definitions)).config;
        getSubOptions = prefix: (evaluate (prefix ++ [ "<name>" ]) null [ ]).options;
        getSubModules = modules;
        substSubModules = m: submoduleWith (arguments // { modules = m; });
        functor = defaultFunctor "submodule" // {
          type = submoduleWith;
          payload = arguments;
          binOp = a: b: a // { modules = a.modules ++ b.modules; };
        };
      };

    # A module kept unevaluated: all definitions become imports of one module.
    deferredModule = mkOptionType {
      name = "deferredModule";
      description = "a module";
      check = v: isAttrs v || isCallable v || isPath v;
      emptyValue.value = { };
      merge = loc: definitions: {
        imports = map (
          d: setDefaultModuleLocation "${toString d.file}, via option ${showPath loc}" d.value
        ) definitions;
      };
    };

    # A set that holds exactly one of the named tags: `{ http = …; }`.
    attrTag =
      tags:
      let
        names = attrNames tags;
        elementOf = name: if tags.${name}._type or null == "option" then tags.${name}.type else tags.${name};
      in
      mkOptionType {
        name = "attrTag";
        description = "a set with one of ${basics.concatMapStringsSep ", " toJSON names}";
        check = v: isAttrs v && length (attrNames v) == 1 && elem (head (attrNames v)) names;
        merge =
          loc: definitions:
          let
            chosen = unique' (concatMap (d: attrNames d.value) definitions);
            tag = head chosen;
          in
          if length chosen > 1 then
            errors.conflict { inherit loc definitions; }
          else
            {
              ${tag} =
                (mergeDefinitions (loc ++ [ tag ]) (elementOf tag) (membersByName definitions).${tag}).mergedValue;
            };
        typeMerge = _: null;
        nestedTypes = tags;
      };
  };
  unique' = basics.unique;
in
types
