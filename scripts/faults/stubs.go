package main

import "io"

func (h *harness) fillDisk(out io.Writer) error  { return nil }
func (h *harness) lockFiles(out io.Writer) error { return nil }
func (h *harness) meddleAll(out io.Writer) error { return nil }
