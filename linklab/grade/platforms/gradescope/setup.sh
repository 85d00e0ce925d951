#!/usr/bin/env bash
# Build the autograder's image: install Linklab, and keep from students what is for instructors.  Run by Gradescope.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends /autograder/source/linklab.deb
chmod -R go-rwx /autograder/source /usr/lib/linklab/exercises /usr/lib/linklab/problems /usr/lib/linklab/labs
