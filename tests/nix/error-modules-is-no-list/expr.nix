{ kix, ... }:
(kix.buildCluster { name = "shop"; modules = { }; }).document
