package ops

import "stchat/internal/safefile"

// lukerPlan is what a Luker chat takes along.
type lukerPlan struct {
	is    bool // the source has Luker sidecars
	files []lukerFile
}

// lukerFile is a sidecar of the new chat.
type lukerFile struct {
	path string
	data []byte
}

func (j *cutJob) planLuker() error { return nil }

func (c *cut) syncSlug(first *cutJob, slug string) error { return nil }

var _ safefile.Options
