package facts

// archiveRows: packing and unpacking.
var archiveRows = []row{
	{cmd: "tar gtar bsdtar star", does: "read", style: styleNone, hook: tar},
	{cmd: "zip", does: "read write", args: "write,read", opts: "-r -R --recurse-paths > recursive; -m --move > delete; --unzip-command =- > execute escape; -x --exclude =-; -i --include =-; -b --temp-path =-; -O --output-file =write; -P --password =-; -n --suffixes =-; -t --from-date =-; -s --split-size =-", hook: zip},
	{cmd: "unzip", does: "read write", args: "read,-", opts: "-d =write; -x =-; -P =-; -l -t -v -Z -p -c > @last", hook: unzip},
	{cmd: "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 unlz4 lzip lzop compress uncompress pigz unpigz pbzip2 brotli", does: "read write", args: "edit", hook: gzip,
		opts: "-r --recursive > recursive; -f --force > force; -S --suffix =-; -o --output =write; -T --threads =-; -p --processes =-; -D =read; -M --memlimit =-; -F --format =-; --long =?-; -w --lgwin =-"},
	{cmd: "7z 7za 7zr 7zz p7zip", does: "read write", args: "-,edit,read*", style: styleLong, opts: "-o =?write"},
	{cmd: "rar unrar unar", does: "read write", args: "auto", opts: "-o =write"},
	{cmd: "ar gar", does: "read write", args: "-,edit,read"},
	{cmd: "zipinfo zcmp zdiff zless zmore xzless bzless lsar unzipsfx zipgrep zstdless", does: "read", args: "read"},
	{cmd: "mksquashfs", does: "read write", args: "read*,>write", style: styleLong},
	{cmd: "unsquashfs", does: "read write", args: "read,-", style: styleLong, opts: "-d -dest =write"},
	{cmd: "genisoimage mkisofs xorriso xorrisofs", does: "read write", args: "read*", style: styleLong, opts: "-o =write; -V =-; -b =-"},
	{cmd: "dpkg-deb rpm2cpio cabextract msiextract", does: "read write", args: "auto"},
}
