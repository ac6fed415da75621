# Texts of errors: the option's path, the definitions with file and line, what was expected and what was found.
# Every text is `object: fact`, then indented lines, then one `hint:` line that says what to type.
{ basics }:
let
  inherit (builtins)
    elemAt
    filter
    foldl'
    genList
    head
    length
    map
    sort
    stringLength
    substring
    toJSON
    tryEval
    typeOf
    ;
  inherit (basics)
    concatMapStringsSep
    concatStrings
    min
    optionalString
    showPath
    stringToCharacters
    ;
in
rec {
  # file:line of a definition, or its module's name where Nix knows no position.
  showPlace =
    definition:
    let
      position = definition.pos or null;
    in
    if position != null then
      "${position.file}:${toString position.line}"
    else
      toString (definition.file or "an unknown place");

  # A value in a few characters: never evaluates deep, never shows more than 60 characters.
  showValue =
    value:
    let
      shallow = tryEval (isShort value);
      text = toJSON value;
      cut = if stringLength text > 60 then substring 0 60 text + "…" else text;
      kind = typeOf value;
    in
    if kind == "set" then
      (
        if value ? _type then
          "a ${toString value._type}"
        else if value == { } then
          "an empty set"
        else
          "a set with ${concatMapStringsSep ", " basics.quote (firstOf 5 (builtins.attrNames value))}"
      )
    else if kind == "list" then
      "a list of ${toString (length value)}"
    else if kind == "lambda" then
      "a function"
    else if kind == "null" then
      "null"
    else if kind == "path" then
      "the path ${toString value}"
    else
      "${article kind} (${if shallow.success then cut else "…"})";
  isShort = value: value == value;
  article =
    kind:
    {
      int = "an integer";
      float = "a float";
      bool = "a boolean";
      string = "a string";
    }
    .${kind} or "a ${kind}";
  firstOf = count: list: genList (elemAt list) (min count (length list));

  wrongType =
    {
      loc,
      expected,
      definitions,
    }:
    throw ''
      option "${showPath loc}": expected ${expected}, found ${showValue (head definitions).value}${
        concatStrings (map (d: "\n  defined at ${showPlace d}") definitions)
      }'';

  conflict =
    { loc, definitions }:
    throw ''
      option "${showPath loc}": definitions conflict${
        concatStrings (
          map (d: "\n  ${showValue d.value} at ${showPlace d}") (basics.reverseList definitions)
        )
      }
      hint: write mkForce before the value that shall win, or mkDefault before the one that may be overridden'';

  unknownOption =
    {
      loc,
      definition,
      siblings,
      hint ? null,
    }:
    let
      near = nearest (basics.last loc) siblings;
    in
    throw ''
      option "${showPath loc}" does not exist
        defined at ${showPlace definition}
      hint: ${
        if near != null then
          "did you mean \"${showPath (basics.init loc ++ [ near ])}\"?"
        else if hint != null then
          hint
        else if siblings == [ ] then
          "no options are declared here"
        else
          "options here: ${concatMapStringsSep ", " (name: name) (firstOf 20 siblings)}"
      }'';

  noValue =
    {
      loc,
      expected,
      declarations ? [ ],
      origin ? null,
    }:
    throw ''
      option "${showPath loc}" is used but not set${
        if origin != null then
          "\n  needed at ${showPlace { pos = origin; }}"
        else
          concatStrings (map (place: "\n  declared at ${place}") declarations)
      }
      hint: set it to ${expected}'';

  # The nearest of `names`, or null where none differs in at most a third of its characters (two at least).
  nearest =
    name: names:
    let
      rated = map (candidate: {
        inherit candidate;
        distance = editDistance name candidate;
      }) (filter (candidate: stringLength candidate < 64) names);
      close = filter (r: r.distance <= basics.max 2 (stringLength name / 3)) rated;
      sorted = sort (
        a: b: a.distance < b.distance || (a.distance == b.distance && a.candidate < b.candidate)
      ) close;
    in
    if stringLength name >= 64 || sorted == [ ] then null else (head sorted).candidate;

  # Levenshtein's distance, one row of the table at a time.
  editDistance =
    left: right:
    let
      columns = stringToCharacters right;
      firstRow = genList (n: n) (length columns + 1);
      nextRow =
        row: character:
        foldl'
          (
            built: index:
            let
              same = if elemAt columns index == character then 0 else 1;
              value = min (min (elemAt row (index + 1) + 1) (elemAt built index + 1)) (
                elemAt row index + same
              );
            in
            built ++ [ value ]
          )
          [ (head row + 1) ]
          (genList (n: n) (length columns));
    in
    basics.last (foldl' nextRow firstRow (stringToCharacters left));

  hint = text: optionalString (text != null) "\nhint: ${text}";
}
