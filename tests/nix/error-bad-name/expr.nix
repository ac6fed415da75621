{ kix, ... }:
(kix.buildCluster { name = "Shop_1"; modules = [ ]; }).document
