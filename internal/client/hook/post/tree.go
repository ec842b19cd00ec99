package post

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/svc-hq/svc/internal/core/wire"
)

// Changes asks the resident process on this machine what changed in a working
// copy. key opens its door.
func Changes(ctx context.Context, address, key string, q wire.TreeQuery) (out wire.TreeChanges, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return out, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+wire.EdgeTree, bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	var c Client
	defer c.Close()
	conn, err := c.dial(ctx, req.URL)
	if err != nil {
		return out, err
	}
	data, res, err := c.exchange(ctx, newConnection(conn), req)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the local service answered %d", res.StatusCode)
	}
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(data, &out)
}
