# A thin skin over the CMake presets; see README.md for the two commands that matter.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
RELEASE := build/release

.PHONY: run test build bench bench-openb bench-server bench-compute test-server lint fuzz fuzz-short fault test-kubernetes test-asan test-tsan coverage package clean deps

deps:
	@packaging/install-dependencies build

build: deps
	@test -f $(RELEASE)/build.ninja || cmake --preset release
	@cmake --build $(RELEASE) -j $(JOBS) --target exa
	@ln -sfn release/exa build/exa

run: build
	@tests/run_main_job build/exa

test:
	@packaging/install-dependencies build test
	@test -f $(RELEASE)/build.ninja || cmake --preset release
	@cmake --build $(RELEASE) -j $(JOBS)
	@ln -sfn release/exa build/exa
	@ctest --test-dir $(RELEASE) -j $(JOBS) --output-on-failure --no-tests=error

test-kubernetes:
	@packaging/install-dependencies build test kube
	@test -f $(RELEASE)/build.ninja || cmake --preset release
	@cmake --build $(RELEASE) -j $(JOBS) --target exa exa_kubernetes_test exa_kubernetes_launch_test
	@tests/with_kubernetes sh -c "$(RELEASE)/tests/exa_kubernetes_test && tests/kubernetes_statuses $(RELEASE)/exa && tests/kubernetes_services $(RELEASE)/exa"
	@KUBE_TEST_KUBELET=1 tests/with_kubernetes $(RELEASE)/tests/exa_kubernetes_launch_test --gtest_brief=1

test-asan test-tsan: test-%:
	@packaging/install-dependencies build test
	@test -f build/$*/build.ninja || cmake --preset $*
	@cmake --build build/$* -j $(JOBS)
	@ctest --test-dir build/$* -j $(JOBS) --output-on-failure --no-tests=error

coverage:
	@packaging/install-dependencies build test lint
	@test -f build/coverage/build.ninja || cmake --preset coverage
	@cmake --build build/coverage -j $(JOBS)
	@ctest --test-dir build/coverage -j $(JOBS) --output-on-failure
	@gcovr -r . --object-directory build/coverage --exclude '.*_test\.cc' --print-summary -o build/coverage.txt

bench:
	@packaging/install-dependencies build test fuzz
	@test -f build/bench/build.ninja || cmake --preset bench
	@cmake --build build/bench -j $(JOBS) --target exa exa_bench
	@bench/run build/bench

# Placement on the openb trace. OPENB is a folder of its lists: here is a part of them (testdata/openb/README.md).
OPENB ?= testdata/openb
bench-openb:
	@packaging/install-dependencies build test fuzz
	@test -f build/bench/build.ninja || cmake --preset bench
	@cmake --build build/bench -j $(JOBS) --target exa_openb
	@build/bench/bench/exa_openb $(OPENB) quality
	@build/bench/bench/exa_openb $(OPENB) quality --learns --order drawn
	@build/bench/bench/exa_openb $(OPENB) speed --policies exa,best-fit,fgd

# The server beside nginx, etcd and a loop of fdatasync; a soak of SOAK seconds. A missed aim is told, no failure.
SOAK ?= 120
bench-server:
	@packaging/install-dependencies build test load
	@test -f build/bench/build.ninja || cmake --preset bench
	@cmake --build build/bench -j $(JOBS) --target exa
	@bench/server/run --report --soak $(SOAK) build/bench/exa

# Machines that report to one server: MACHINES of them every 30 s.
MACHINES ?= 5000
bench-compute:
	@packaging/install-dependencies build
	@test -f build/bench/build.ninja || cmake --preset bench
	@cmake --build build/bench -j $(JOBS) --target exa
	@bench/compute_load build/bench/exa $(MACHINES) 90

test-server: build
	@packaging/install-dependencies test
	@tests/http_robustness --long build/exa
	@tests/http_parity build/exa

fuzz-short:
	@packaging/install-dependencies build fuzz
	@tests/fuzz/short

fuzz:
	@packaging/install-dependencies build fuzz
	@test -f build/fuzz/build.ninja || cmake --preset fuzz
	@cmake --build build/fuzz -j $(JOBS) --target fuzz
	@tests/fuzz/long build/fuzz $(SECONDS_EACH)

fault: build
	@packaging/install-dependencies test
	@tests/kill_points --all build/exa
	@tests/parallel_reserve build/exa 200 8 50
	@tests/with_postgres tests/replica_faults build/exa --faults 30

lint:
	@packaging/install-dependencies build test lint
	@tests/lint

# build/packages/exa_VERSION_ARCHITECTURE.deb
package: build
	@cpack --config $(RELEASE)/CPackConfig.cmake -B build/packages

clean:
	@rm -rf build
