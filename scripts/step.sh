#!/usr/bin/env bash
# step.sh TEXT COMMAND… runs a command. It prints the text before it and the time after it.
set -euo pipefail
text=$1
shift
echo "$text …"
start=$SECONDS
"$@"
echo "$text: $((SECONDS - start)) s"
