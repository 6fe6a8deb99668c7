package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// Image is one image for one platform, made from nothing: its layer is all that is in it.
type Image struct {
	Name, Version     string
	System, Processor string
	Program           string // that its containers start
	WorkDir           string
	At                time.Time
}

// loaded is the entry of manifest.json, the file by which engines older than the OCI layout load an image.
type loaded struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// containerdName is the annotation from which containerd takes the whole name of an image that it imports.
// Kubernetes does not find an image without a registry in its name.
const containerdName = "io.containerd.image.name"

// Write writes an archive that is an image layout (https://github.com/opencontainers/image-spec,
// image-layout.md) and that `docker load` takes as well.
func (i Image) Write(w io.Writer, dir string) error {
	blobs := &layout{out: tar.NewWriter(w), at: i.At}
	var layer bytes.Buffer
	plain := sha256.New()
	z, err := gzip.NewWriterLevel(&layer, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := errors.Join(WriteTar(io.MultiWriter(z, plain), dir, "", i.At), z.Close()); err != nil {
		return err
	}
	config := v1.Image{
		Created:  &i.At,
		Platform: v1.Platform{OS: i.System, Architecture: i.Processor},
		Config: v1.ImageConfig{
			Entrypoint: []string{i.Program}, WorkingDir: i.WorkDir, User: "65534:65534",
			Env: []string{"PATH=/usr/bin:/bin"},
			Labels: map[string]string{
				v1.AnnotationVersion: i.Version, v1.AnnotationTitle: i.Name, v1.AnnotationLicenses: "Apache-2.0",
			},
		},
		RootFS:  v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.NewDigest(digest.SHA256, plain)}},
		History: []v1.History{{Created: &i.At, CreatedBy: "packaging/release"}},
	}
	manifest := v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: v1.MediaTypeImageManifest,
		Config:    blobs.object(v1.MediaTypeImageConfig, config),
		Layers:    []v1.Descriptor{blobs.blob(v1.MediaTypeImageLayerGzip, layer.Bytes())},
	}
	top := blobs.object(v1.MediaTypeImageManifest, manifest)
	top.Platform = &config.Platform
	tag := i.Name + ":" + i.Version
	top.Annotations = map[string]string{v1.AnnotationRefName: tag, containerdName: whole(tag)}
	blobs.file(v1.ImageIndexFile, v1.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex,
		Manifests: []v1.Descriptor{top},
	})
	blobs.file("manifest.json", []loaded{{
		Config: place(manifest.Config.Digest), RepoTags: []string{tag},
		Layers: []string{place(manifest.Layers[0].Digest)},
	}})
	blobs.file(v1.ImageLayoutFile, v1.ImageLayout{Version: v1.ImageLayoutVersion})
	return errors.Join(blobs.err, blobs.out.Close())
}

// whole is the name of an image with its registry.
func whole(tag string) string {
	host, rest, ok := strings.Cut(tag, "/")
	switch {
	case !ok:
		return "docker.io/library/" + tag
	case rest != "" && (strings.ContainsAny(host, ".:") || host == "localhost"):
		return tag
	}
	return "docker.io/" + tag
}

// place is where a layout has a blob.
func place(d digest.Digest) string {
	return v1.ImageBlobsDir + "/" + d.Algorithm().String() + "/" + d.Encoded()
}

// layout writes the files of an image layout. It keeps the first error.
type layout struct {
	out *tar.Writer
	at  time.Time
	err error
}

func (l *layout) put(name string, content []byte) {
	if l.err != nil {
		return
	}
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: l.at,
		Format: tar.FormatPAX,
	}
	if l.err = l.out.WriteHeader(h); l.err == nil {
		_, l.err = l.out.Write(content)
	}
}

func (l *layout) file(name string, v any) {
	text, err := json.Marshal(v)
	l.err = errors.Join(l.err, err)
	l.put(name, text)
}

func (l *layout) blob(mediaType string, content []byte) v1.Descriptor {
	d := v1.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
	l.put(place(d.Digest), content)
	return d
}

func (l *layout) object(mediaType string, v any) v1.Descriptor {
	text, err := json.Marshal(v)
	if err != nil {
		l.err = errors.Join(l.err, fmt.Errorf("write %s: %w", mediaType, err))
	}
	return l.blob(mediaType, text)
}
