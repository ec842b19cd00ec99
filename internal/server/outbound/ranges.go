package outbound

import "net/netip"

// denied are the ranges that are not the public internet, or that lead back
// into private ones: translated, tunnelled and mapped addresses too.
var denied = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32",   // Azure's host
	"100.100.100.200/32", // Alibaba's metadata
	"::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23",
	"2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

// never are the ranges that not even the operator can allow.
var never = prefixes("169.254.0.0/16", "fe80::/10", "168.63.129.16/32", "100.100.100.200/32", "fd00:ec2::254/128", "0.0.0.0/8", "::/128",
	"224.0.0.0/4", "ff00::/8")

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, t := range texts {
		out = append(out, netip.MustParsePrefix(t))
	}
	return out
}

// Public reports whether an address is on the public internet.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.Is4In6() {
		return false
	}
	for _, p := range denied {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast()
}
