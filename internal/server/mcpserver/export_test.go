package mcpserver

// SDKOnly makes a Server leave every request to the SDK.
func SDKOnly(s *Server) *Server {
	for _, p := range []*profile{s.full, s.core} {
		p.sdk() // which knows the tools
		p.tools = nil
	}
	return s
}
