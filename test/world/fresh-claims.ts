let enabled = true;

export function freshClaimsEnabled(): boolean {
  return enabled;
}

/** The worlds of this test file book without the shortcut for new BETs and WINs. */
export function disableFreshClaims(): void {
  enabled = false;
}
