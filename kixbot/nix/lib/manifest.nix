# What may stand in a manifest, how overrides merge into it, and what is refused.
{
  basics,
}:
let
  inherit (builtins)
    all
    attrNames
    attrValues
    concatLists
    concatMap
    elem
    filter
    fromJSON
    hasAttr
    head
    isAttrs
    isBool
    isInt
    isList
    isString
    map
    mapAttrs
    match
    removeAttrs
    replaceStrings
    toJSON
    typeOf
    unsafeDiscardStringContext
    ;
  inherit (basics) imap0 optional;
  # Nix has no escapes for these two, and its versions print them differently.
  unprintable = fromJSON ''["\b","\f"]'';
  holdsUnprintable = text: replaceStrings unprintable [ "" "" ] text != text;
  moduleTags = [
    "if"
    "merge"
    "override"
    "order"
  ];
in
rec {
  # --- numbers ---

  # A number the schema wants where Nix would cut it. At most 15 digits, so that every reader sees the same number.
  number =
    text:
    let
      parts = match "(-?)(0|[1-9][0-9]*)([.]([0-9]+))?" text;
      fraction = dropZeros (if builtins.elemAt parts 3 == null then "" else builtins.elemAt parts 3);
      whole = builtins.elemAt parts 1;
      digits = builtins.stringLength whole + builtins.stringLength fraction;
      small = whole == "0" && match "0000.*" fraction != null;
    in
    if !isString text || parts == null || digits > 15 || small || (text == "-0") then
      throw "kix.number ${toJSON text}: expected a decimal number with at most 15 digits, 0.0001 or more\nhint: write kix.number \"0.1\""
    else
      {
        _type = "kix-number";
        text = "${if whole == "0" && fraction == "" then "" else head parts}${whole}${
          basics.optionalString (fraction != "") ".${fraction}"
        }";
      };
  dropZeros =
    text: if basics.hasSuffix "0" text then dropZeros (basics.removeSuffix "0" text) else text;
  isNumber = value: isAttrs value && (value._type or null) == "kix-number";
  isPin = value: isAttrs value && (value._type or null) == "kix-pin";

  # --- what is refused ---

  isPlain =
    value:
    if isString value then
      !(holdsUnprintable value)
    else if isAttrs value then
      !(value ? _type)
      && !(value ? outPath)
      && !(value ? __toString)
      && !(value ? __kix_number__)
      && all isPlain (attrValues value)
    else if isList value then
      all isPlain value
    else
      isInt value || isBool value || value == null;

  # [{ path message hint }] of every leaf that cannot stand in a manifest.
  faultsIn =
    path: value:
    let
      fault = message: hint: [ { inherit path message hint; } ];
      tag = if isAttrs value then value._type or null else null;
      kind = typeOf value;
    in
    if isPlain value || isNumber value || isPin value then
      [ ]
    else if isString value then
      fault "a backspace or form feed, which Nix versions print differently" null
    else if kind == "float" then
      fault "a float, which Nix cuts to six digits" "write kix.number \"0.1\", or the quantity as a string"
    else if isList value then
      concatLists (imap0 (index: faultsIn "${path}[${toString index}]") value)
    else if kind == "path" then
      fault "a path; a file's path means nothing in a cluster" "builtins.readFile gives its text"
    else if kind == "lambda" then
      fault "a function" null
    else if elem tag moduleTags then
      fault "mk${tagName tag}, which only options understand" "use lib.optionalAttrs or null"
    else if tag == "kix-resource" then
      fault "a whole resource" "refer to it with ${value.kind}'s .out, such as .out.name"
    else if value ? outPath then
      fault "a set with outPath (a derivation or a flake's input)" null
    else if value ? __toString then
      fault "a set with __toString" "write toString around it"
    else if value ? __kix_number__ then
      fault "the key __kix_number__, which belongs to kix" "write kix.number \"0.1\""
    else if tag != null && !isString tag then
      fault "a set tagged _type" null
    else
      concatLists (map (name: faultsIn "${path}${member name}" value.${name}) (attrNames value))
      ++ (if tag != null then fault "a set tagged _type" null else [ ]);
  tagName =
    tag:
    {
      "if" = "If";
      merge = "Merge";
      override = "Override (mkDefault, mkForce)";
      order = "Order";
    }
    .${tag};
  member =
    name:
    if match "[A-Za-z0-9_-]+" name != null then ".${name}" else ".${toJSON name}";

  # Plain data of a value: null members gone, numbers as the document has them, what is refused as null.
  plainOf =
    value:
    if isString value then
      (if holdsUnprintable value then replaceStrings unprintable [ "" "" ] value else value)
    else if isList value then
      map plainOf value
    else if isAttrs value then
      if value ? _type then
        (
          if isNumber value then
            { __kix_number__ = value.text; }
          else if isPin value then
            "${value}"
          else
            null
        )
      else if value ? outPath || value ? __toString || value ? __kix_number__ then
        null
      else
        let
          nulls = filter (name: value.${name} == null) (attrNames value);
        in
        mapAttrs (_: plainOf) (if nulls == [ ] then value else removeAttrs value nulls)
    else if isInt value || isBool value || value == null then
      value
    else
      null;

  # --- labels and kinds of kix's own ---

  isReserved =
    key:
    match "([a-z0-9.-]*[.])?kix[.]run/.*" key != null
    && !(elem key [
      "kix.run/cede"
      "kix.run/ignore"
    ]);
  reservedIn =
    path: value:
    let
      metadata = value.metadata or { };
      keysAt =
        field:
        map (key: {
          path = "${path}.metadata.${field}${member key}";
          message = "${key} belongs to kix";
          hint = "only the annotations kix.run/cede and kix.run/ignore may be written";
        }) (filter isReserved (attrNames (setOr (metadata.${field} or null))));
      steeringLabels = map (key: {
        path = "${path}.metadata.labels${member key}";
        message = "${key} is an annotation, not a label";
        hint = null;
      }) (filter (key: elem key [ "kix.run/cede" "kix.run/ignore" ]) (attrNames (setOr (metadata.labels or null))));
      below =
        field: if isAttrs (value.${field} or null) then reservedIn "${path}.${field}" value.${field} else [ ];
    in
    if isAttrs metadata then
      keysAt "labels" ++ keysAt "annotations" ++ steeringLabels ++ concatMap below [ "spec" "template" "jobTemplate" ]
    else
      [ ];
  setOr = value: if isAttrs value then value else { };

  # --- overrides ---

  mapByName = items: {
    _type = "kix-map-by-name";
    inherit items;
  };
  isMapByName = value: isAttrs value && (value._type or null) == "kix-map-by-name";

  # Sets merge, lists and leaves replace, null deletes, mapByName edits list items. Lazy in the members of `base`.
  override =
    base: change:
    if isMapByName change then
      (if isList base then mapList base change.items else base)
    else if isAttrs change && !(change ? _type) && isAttrs base && !(base ? _type) then
      let
        deleted = filter (name: change.${name} == null) (attrNames change);
      in
      removeAttrs (
        base
        // mapAttrs (
          name: value: if hasAttr name base then override base.${name} value else fresh value
        ) change
      ) deleted
    else
      fresh change;
  # An override that stands alone: mapByName edits nothing there.
  fresh =
    value:
    if isMapByName value then
      [ ]
    else if isAttrs value && !(value ? _type) then
      mapAttrs (_: fresh) value
    else
      value;
  nameOfItem = item: if isAttrs item then item.name or null else null;
  mapList =
    list: items:
    concatMap (
      item:
      let
        change = items.${nameOfItem item};
      in
      if nameOfItem item != null && hasAttr (nameOfItem item) items then
        optional (change != null) (override item change)
      else
        [ item ]
    ) list;
  # Paths of mapByName entries that edit nothing.
  unmatchedIn =
    path: base: change:
    if isMapByName change then
      let
        names = if isList base then map nameOfItem base else [ ];
        missing = filter (name: !(elem name names)) (attrNames change.items);
        itemOf = name: head (filter (item: nameOfItem item == name) base);
      in
      map (name: "${path}[${name}]") missing
      ++ concatMap (
        name:
        if elem name names then unmatchedIn "${path}[${name}]" (itemOf name) change.items.${name} else [ ]
      ) (attrNames change.items)
    else if isAttrs change && !(change ? _type) then
      concatMap (
        name: unmatchedIn "${path}${member name}" (if isAttrs base then base.${name} or null else null) change.${name}
      ) (attrNames change)
    else
      [ ];

  # --- faults that are findings, carried in the text ---

  fault =
    {
      rule,
      message,
      hint ? null,
      resource,
    }:
    "__kix_fault__${
      toJSON {
        inherit rule message;
        hint = if hint == null then null else unsafeDiscardStringContext hint;
        resource = unsafeDiscardStringContext resource;
      }
    }__kix_end__";
}
