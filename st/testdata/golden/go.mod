// A module of its own, so that these files stay out of the module's zip: the
// names of some may not be in one. Nothing here is Go.
module stchat/testdata/golden
