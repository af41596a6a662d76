package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// machine describes what was measured on.
func machine() string {
	cpu := first("/proc/cpuinfo", `model name\s*: (.*)`)
	memory := first("/proc/meminfo", `MemTotal:\s*(\d+) kB`)
	kernel := first("/proc/sys/kernel/osrelease", `(.*)`)
	load := first("/proc/loadavg", `(\S+ \S+ \S+)`)
	return fmt.Sprintf("%d × %s, %s kB of memory, Linux %s, %s, %s; load averages when it began: %s",
		runtime.NumCPU(), cpu, memory, kernel, runtime.Version(), time.Now().UTC().Format("2006-01-02 15:04 MST"), load)
}

func first(path, pattern string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	m := regexp.MustCompile(pattern).FindSubmatch(b)
	if m == nil {
		return "unknown"
	}
	return strings.TrimSpace(string(m[1]))
}
