# Image pins: pins.json as values that print `image:tag@digest`, and the images packages ask for by key.
{
  errors,
  markers,
}:
let
  inherit (builtins)
    attrNames
    filter
    fromJSON
    head
    isAttrs
    isString
    mapAttrs
    pathExists
    readFile
    ;
  fields = [
    "image"
    "tag"
    "digest"
  ];
in
rec {
  # A path of pins.json → { <key> = pin; }. A file that is not there holds no pins.
  readPins =
    path:
    let
      document = fromJSON (readFile path);
      where = toString path;
      wrong = filter (
        key:
        let
          pin = document.pins.${key};
        in
        !(isAttrs pin && builtins.all (field: isString (pin.${field} or null)) fields)
      ) (attrNames document.pins);
    in
    if !(pathExists path) then
      { }
    else if !(isAttrs document && document.version or null == 1 && isAttrs (document.pins or null)) then
      throw "${where}: expected { \"version\": 1, \"pins\": { … } }"
    else if wrong != [ ] then
      throw "${where}: pin \"${head wrong}\": expected image, tag and digest, as strings"
    else
      mapAttrs pinOf document.pins;

  pinOf =
    key:
    {
      image,
      tag,
      digest,
      ...
    }:
    let
      reference = "${image}:${tag}@${digest}";
    in
    {
      _type = "kix-pin";
      inherit
        key
        image
        tag
        digest
        reference
        ;
      __toString = _: markers.carry (markers.pinMarker key reference) reference;
    };

  # What packages get as `pins`: every pin by key, and `image KEY "repo:tag"`.
  argumentOf =
    pins:
    pins
    // {
      image =
        key: default:
        if pins ? ${key} then
          "${pins.${key}}"
        else if isString default then
          markers.carry (markers.pinMarker key default) default
        else
          throw "pins.image \"${key}\": expected a default reference such as \"repo:tag\", found ${errors.showValue default}";
    };
}
