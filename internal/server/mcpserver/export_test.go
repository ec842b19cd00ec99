package mcpserver

// SDKOnly makes a Server leave every request to the SDK.
func SDKOnly(s *Server) *Server {
	for _, p := range s.profiles {
		p.sdk() // which knows the tools
		p.tools = nil
	}
	return s
}
