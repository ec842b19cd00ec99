package login

import (
	"encoding/json"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// parse reads a config file.
func parse(data []byte) (c Config, err error) {
	if c, ok := readPlain(string(data)); ok {
		return c, nil
	}
	err = json.Unmarshal(data, &c)
	return c, err
}

// readPlain reads a config file that has what svc writes and nothing else. Every
// hook reads it, and encoding/json, which reads all others, takes a fiftieth of
// a hook's time only to learn what a Config is.
func readPlain(text string) (c Config, ok bool) {
	text, ok = sign(text, '{')
	for ok {
		var key, value string
		if key, text, ok = quoted(text); !ok {
			break
		}
		if text, ok = sign(text, ':'); !ok {
			break
		}
		if value, text, ok = quoted(text); ok {
			ok = c.set(key, value)
		} else {
			value, text = word(text)
			ok = c.turn(key, value)
		}
		if end, over := sign(text, '}'); ok && over {
			return c, end == ""
		}
		if ok {
			text, ok = sign(text, ',')
		}
	}
	return Config{}, false
}

func (c *Config) set(key, value string) bool {
	switch key {
	case "server":
		c.Server = value
	case "token":
		c.Token = value
	case "machine_id":
		c.MachineID = value
	case "data_mode":
		c.DataMode = coord.DataMode(value)
	case "web_url":
		c.WebURL = value
	default:
		return false
	}
	return true
}

func (c *Config) turn(key, value string) bool {
	on := value == "true"
	switch {
	case !on && value != "false":
		return false
	case key == "keychain":
		c.Keychain = on
	case key == "insecure":
		c.Insecure = on
	default:
		return false
	}
	return true
}

const blanks = " \t\r\n"

// sign takes a sign, and the blanks around it, from the beginning of a text.
func sign(text string, c byte) (string, bool) {
	text = strings.TrimLeft(text, blanks)
	if text == "" || text[0] != c {
		return text, false
	}
	return strings.TrimLeft(text[1:], blanks), true
}

// quoted takes a text in quotes, of letters and signs that stand for themselves.
func quoted(text string) (inner, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", text, false
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return text[1:i], text[i+1:], true
		case c == '\\' || c < ' ' || c >= 0x80:
			return "", text, false
		}
	}
	return "", text, false
}

// word takes true or false.
func word(text string) (string, string) {
	n := len(text) - len(strings.TrimLeft(text, "truefals"))
	return text[:n], text[n:]
}
