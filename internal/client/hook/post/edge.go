package post

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
)

// errNoEdge means that nobody answers in the place of the edge, or somebody
// else: the service is to be asked itself.
var errNoEdge = errors.New("there is no edge")

// margin is by how much earlier than the hook's time is up the edge must have
// answered: an answer has to be read and shown.
const margin = 25 * time.Millisecond

// askEdge asks the resident process on this machine, over loopback.
func (c *Client) askEdge(ctx context.Context, body []byte) (wire.HookReply, error) {
	req, err := c.request(ctx, c.Edge+wire.EdgePath, body)
	if err != nil {
		return wire.HookReply{}, errNoEdge
	}
	req.Header.Set(wire.EdgeKey, c.EdgeKey)
	req.Header.Set(wire.EdgeServer, c.Server)
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		req.Header.Set(wire.EdgeBudget, strconv.FormatInt(max(left-margin, left/2).Milliseconds(), 10))
	}
	conn := c.take()
	if conn == nil {
		raw, err := c.dial(ctx, req.URL)
		if err != nil {
			return wire.HookReply{}, errNoEdge
		}
		conn = newConnection(raw)
	}
	data, res, err := c.exchange(ctx, conn, req)
	switch {
	case ctx.Err() != nil:
		return wire.HookReply{}, ctx.Err()
	case err != nil || res.Header.Get(wire.EdgeAnswer) == "": // it has just ended, or is of another version
		c.Close()
		return wire.HookReply{}, errNoEdge
	case res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusGatewayTimeout:
		return wire.HookReply{}, context.DeadlineExceeded // it has tried what we could
	}
	return read(data, res)
}
