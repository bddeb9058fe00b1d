cd /tmp/w/shimcore; export MGPU_CACHE=/tmp/w/main/.cache
