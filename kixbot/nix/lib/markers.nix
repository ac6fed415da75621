# References travel in string contexts: a string of `.out` carries the path of a tiny text whose body is the id of
# its resource. Nix keeps the context through interpolation, toJSON, replaceStrings and concatStringsSep.
# A name marker is a hard reference; a selector marker is a soft one; a pin marker says which image was asked for.
{ basics }:
let
  inherit (builtins)
    attrNames
    getContext
    isAttrs
    isList
    isString
    listToAttrs
    map
    mapAttrs
    match
    replaceStrings
    substring
    toFile
    unsafeDiscardStringContext
    ;
  # "/" and ":" and "@" cannot stand in a store name, where a pin's key and reference travel.
  plain = [
    "="
    "/"
    ":"
    "@"
  ];
  coded = [
    "=e="
    "=s="
    "=c="
    "=a="
  ];
in
rec {
  nameMarker = id: toFile "kix-ref" (unsafeDiscardStringContext id);
  softMarker = id: toFile "kix-soft" (unsafeDiscardStringContext id);

  # The string with the context of the marker added.
  carry = marker: text: substring 0 0 marker + text;
  mark = id: carry (nameMarker id);
  markSoft = id: set: mapAttrs (_: carry (softMarker id)) set;

  # Path of marker → id, for all that may be referred to.
  tableOf =
    marker: ids:
    listToAttrs (
      map (id: {
        name = unsafeDiscardStringContext (marker id);
        value = id;
      }) ids
    );

  contextOf = text: attrNames (getContext text);

  # The same value without any reference: strings lose their context.
  weak =
    value:
    if isString value then
      unsafeDiscardStringContext value
    else if isList value then
      map weak value
    else if isAttrs value && !(value ? _type) then
      mapAttrs (_: weak) value
    else if isAttrs value && value._type == "kix-pin" then
      unsafeDiscardStringContext "${value}"
    else
      value;

  # Names of store paths are at most 211 characters; a longer reference is carried without its text.
  pinMarker =
    key: reference:
    let
      code = replaceStrings plain coded;
      name = "kix-pin-${code key}=k=${code reference}";
    in
    toFile (
      if builtins.stringLength name <= 200 then name else substring 0 200 "kix-pin-${code key}=k="
    ) key;
  # { key reference } of a pin marker's path, null for any other path.
  readPin =
    path:
    let
      found = match "/nix/store/[0-9a-z]{32}-kix-pin-(.*)=k=(.*)" path;
      decode = replaceStrings coded plain;
    in
    if found == null then
      null
    else
      {
        key = decode (builtins.elemAt found 0);
        reference = decode (builtins.elemAt found 1);
      };
  isMarkerPath = path: match "/nix/store/[0-9a-z]{32}-kix-(ref|soft)" path != null;
}
