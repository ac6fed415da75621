# Small functions over builtins that the rest of the library and packages use. Names and meanings are those of
# nixpkgs' lib, so that habits carry over. Only builtins of Nix 2.8.
let
  inherit (builtins)
    attrNames
    attrValues
    concatLists
    concatMap
    concatStringsSep
    elem
    elemAt
    filter
    foldl'
    genList
    hasAttr
    head
    isAttrs
    isFunction
    isList
    length
    listToAttrs
    map
    replaceStrings
    sort
    stringLength
    substring
    tail
    ;
in
rec {
  inherit (builtins)
    all
    any
    attrNames
    attrValues
    concatLists
    concatMap
    concatStringsSep
    elem
    elemAt
    filter
    foldl'
    fromJSON
    genList
    groupBy
    hasAttr
    head
    isAttrs
    isBool
    isInt
    isList
    isString
    length
    listToAttrs
    map
    mapAttrs
    match
    partition
    readFile
    replaceStrings
    sort
    split
    stringLength
    substring
    tail
    toJSON
    ;

  id = x: x;
  const = x: _: x;
  optional = condition: value: if condition then [ value ] else [ ];
  optionals = condition: values: if condition then values else [ ];
  optionalAttrs = condition: set: if condition then set else { };
  optionalString = condition: text: if condition then text else "";
  nameValuePair = name: value: { inherit name value; };
  mapAttrsToList = f: set: map (name: f name set.${name}) (attrNames set);
  mapAttrs' = f: set: listToAttrs (mapAttrsToList f set);
  filterAttrs =
    predicate: set:
    listToAttrs (
      map (name: nameValuePair name set.${name}) (
        filter (name: predicate name set.${name}) (attrNames set)
      )
    );
  genAttrs = names: f: listToAttrs (map (name: nameValuePair name (f name)) names);
  getAttrs = names: set: genAttrs names (name: set.${name});
  concatMapStringsSep =
    separator: f: list:
    concatStringsSep separator (map f list);
  concatStrings = concatStringsSep "";
  flatten = value: if isList value then concatMap flatten value else [ value ];
  toList = value: if isList value then value else [ value ];
  last = list: elemAt list (length list - 1);
  init = list: genList (elemAt list) (length list - 1);
  imap0 = f: list: genList (index: f index (elemAt list index)) (length list);
  imap1 = f: list: genList (index: f (index + 1) (elemAt list index)) (length list);
  reverseList = list: genList (index: elemAt list (length list - 1 - index)) (length list);
  min = a: b: if a < b then a else b;
  max = a: b: if a > b then a else b;
  range = first: end: if first > end then [ ] else genList (n: first + n) (end - first + 1);
  findFirst =
    predicate: default: list:
    let
      found = filter predicate list;
    in
    if found == [ ] then default else head found;

  # Sorted, each value once. Values must be comparable with `<` (strings, numbers).
  sortedUnique =
    list:
    let
      sorted = sort (a: b: a < b) list;
    in
    concatLists (
      imap0 (
        index: value: optional (index == 0 || elemAt sorted (index - 1) != value) value
      ) sorted
    );
  unique = foldl' (seen: value: if elem value seen then seen else seen ++ [ value ]) [ ];

  hasPrefix = prefix: text: substring 0 (stringLength prefix) text == prefix;
  hasSuffix =
    suffix: text:
    stringLength text >= stringLength suffix
    && substring (stringLength text - stringLength suffix) (stringLength suffix) text == suffix;
  hasInfix = infix: text: replaceStrings [ infix ] [ "" ] text != text;
  removePrefix =
    prefix: text:
    if hasPrefix prefix text then substring (stringLength prefix) (-1) text else text;
  removeSuffix =
    suffix: text:
    if hasSuffix suffix text then
      substring 0 (stringLength text - stringLength suffix) text
    else
      text;
  splitString =
    separator: text: filter builtins.isString (builtins.split (escapeRegex separator) text);
  escapeRegex =
    let
      special = stringToCharacters "\\[{()^$?*+|.";
    in
    replaceStrings special (map (c: "\\${c}") special);
  stringToCharacters = text: genList (index: substring index 1 text) (stringLength text);
  toLower =
    let
      upper = stringToCharacters "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
      lower = stringToCharacters "abcdefghijklmnopqrstuvwxyz";
    in
    replaceStrings upper lower;

  # Deep merge of sets, the right one wins; everything else is replaced whole.
  recursiveUpdate =
    left: right:
    if isAttrs left && isAttrs right then
      left
      // builtins.mapAttrs (
        name: value: if hasAttr name left then recursiveUpdate left.${name} value else value
      ) right
    else
      right;
  attrByPath =
    path: default: set:
    if path == [ ] then
      set
    else if isAttrs set && hasAttr (head path) set then
      attrByPath (tail path) default set.${head path}
    else
      default;

  # Functions proper and sets that act as one.
  isCallable = value: isFunction value || (isAttrs value && value ? __functor);
  argumentsOf =
    f:
    if isAttrs f && f ? __functor then
      f.__functionArgs or (builtins.functionArgs (f.__functor f))
    else
      builtins.functionArgs f;

  # A toml-like quoting of a path of names: `a.b."c.d"`.
  showPath =
    path:
    concatMapStringsSep "." (
      name:
      if builtins.match "[A-Za-z_][A-Za-z0-9_'-]*" name != null || hasPrefix "[" name then
        name
      else
        "\"${name}\""
    ) path;
  quote = text: "\"${text}\"";
}
