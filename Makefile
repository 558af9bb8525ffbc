# SPDX-License-Identifier: BSD-2-Clause
# A thin front: Meson builds (meson.build), scripts/ do the rest.
BUILD := build

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) product

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "seam: meson is missing; 'scripts/bootstrap build' installs it" >&2; exit 1; }
	meson setup $(BUILD)

# Only targets that call scripts/bootstrap install what is missing.
demo:
	@scripts/bootstrap demo
	@$(MAKE) --no-print-directory all
	@scripts/demo $(BUILD)

check:
	@scripts/bootstrap check
	@scripts/check $(BUILD)

# Fuzzers and random calls, for hours.
soak:
	@scripts/bootstrap soak
	@$(MAKE) --no-print-directory all
	@scripts/soak $(BUILD)

# The library and its tests for other processors, under qemu-user.
cross:
	@scripts/bootstrap cross
	@scripts/cross $(BUILD)

# One file without libraries: build/static/seam.
static: $(BUILD)/static/build.ninja
	@ninja -C $(BUILD)/static seam

$(BUILD)/static/build.ninja:
	@mkdir -p $(BUILD)
	meson setup -Dstatic=true -Ddefault_library=static -Dprefer_static=true -Doptimization=s \
		$(BUILD)/static

# libseam and its peers at the same work, in one run; QUICK=1 takes less than a minute.
bench:
	@scripts/bootstrap bench
	@[ -d $(BUILD)/release ] || { mkdir -p $(BUILD) && meson setup -Dbench=true --buildtype=release $(BUILD)/release; } >/dev/null
	@ninja -C $(BUILD)/release bench/bench >/dev/null
	@bench/kernel/build $(BUILD)/release/kernel
	@$(BUILD)/release/bench/bench $(if $(QUICK),--quick) --maple $(BUILD)/release/kernel/maple.so \
		-o $(BUILD)/bench.json

install: all
	meson install --no-rebuild -C $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-asan build-fuzz

.PHONY: all demo check soak cross static bench install clean
