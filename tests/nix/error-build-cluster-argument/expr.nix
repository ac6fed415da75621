{ kix, ... }:
(kix.buildCluster { name = "shop"; module = [ ]; }).document
