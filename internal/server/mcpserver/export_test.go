package mcpserver

// SDKOnly makes a Server leave every request to the SDK.
func SDKOnly(s *Server) *Server {
	s.full.tools, s.core.tools = nil, nil
	return s
}
