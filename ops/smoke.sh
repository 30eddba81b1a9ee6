#!/bin/sh
# Checks that a deployment is alive and ready, and that protected routes are closed. Changes nothing.
#   ops/smoke.sh https://croupier.example [ADMIN_KEY]
# With a key (role auditor suffices) it also reads providers and transactions through the admin API. Exit status 0: all checks passed.
set -u
url=${1:?usage: ops/smoke.sh URL [ADMIN_KEY]}
while [ "$url" != "${url%/}" ]; do url=${url%/}; done
key=${2:-}
failed=0

# check WHAT EXPECTED_STATUS CURL_ARGUMENT…
check() {
  what=$1 expected=$2
  shift 2
  status=$(curl -sS -o /dev/null -m 10 -w '%{http_code}' "$@" 2>/dev/null) || status='no answer'
  if [ "$status" = "$expected" ]; then
    echo "ok      $what"
  else
    echo "FAILED  $what: $status instead of $expected"
    failed=1
  fi
}

check 'the process is alive' 200 "$url/health/live"
check 'the instance is ready' 200 "$url/health/ready"
check 'an unsigned call is refused' 401 -X POST "$url/v1/wallet/balance" -H 'Content-Type: application/json' -d '{}'
check 'an unknown route is a 404' 404 "$url/v1/rgs/behavior"
check 'the admin API requires a key' 401 "$url/v1/admin/providers"
if [ -n "$key" ]; then
  check 'the admin API answers' 200 "$url/v1/admin/providers?limit=1" -H "Authorization: Bearer $key"
  check 'transactions can be read' 200 "$url/v1/admin/transactions?limit=1" -H "Authorization: Bearer $key"
fi
exit $failed
