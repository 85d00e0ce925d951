# Linklab in a container that needs no privilege: the package of `make deb` on Debian 12.
# For students: make student-deb && docker build --build-arg PACKAGE=linklab-student -t linklab .
#
#   make deb && docker build -t linklab .
#   docker run --rm -v "$PWD:/home/student" linklab run 14          results in ./runs
#   docker run --rm -it -v "$PWD:/home/student" linklab shell "Lab 8.mn"
#
# The pocket keeps its memory in /tmp on the container's disk, since Docker mounts /dev/shm noexec and with 64 MB.
# More: docs/install.md.
FROM debian:12-slim
ARG PACKAGE=linklab
COPY build/deb/${PACKAGE}_*_amd64.deb /tmp/linklab.deb
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /tmp/linklab.deb \
    && rm -rf /tmp/linklab.deb /var/lib/apt/lists/* \
    && useradd --create-home student
USER student
WORKDIR /home/student
ENTRYPOINT ["linklab"]
CMD ["doctor"]
