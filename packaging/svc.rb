class Svc < Formula
  desc "Coordinates coding agents that work in the same repositories"
  homepage "https://github.com/svc-hq/svc"
  version "@VERSION@"
  license "Apache-2.0"

  base = "https://github.com/svc-hq/svc/releases/download/v@VERSION@/svc_@VERSION@_"
  on_macos do
    on_arm do
      url "#{base}darwin_arm64.tar.gz"
      sha256 "@SHA_darwin_arm64@"
    end
    on_intel do
      url "#{base}darwin_amd64.tar.gz"
      sha256 "@SHA_darwin_amd64@"
    end
  end
  on_linux do
    on_arm do
      url "#{base}linux_arm64.tar.gz"
      sha256 "@SHA_linux_arm64@"
    end
    on_intel do
      url "#{base}linux_amd64.tar.gz"
      sha256 "@SHA_linux_amd64@"
    end
  end

  def install
    bin.install "svc", "svcd"
  end

  service do
    run [opt_bin/"svcd", "serve"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/svc --version")
  end
end
