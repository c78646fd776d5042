# Reads CTest's JUnit file. Prints how many tests were skipped for which reason, which tests failed
# with the end of what each printed (a log may be cut before the summary), and one closing line. CTest's own totals are not usable, because they count a test whose program
# is missing as skipped. CTest escapes test output, so a line that begins like an element is one.
function plain(text) {
  gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text)
  gsub(/&apos;/, "'", text); gsub(/&amp;/, "\\&", text)
  return text
}
function attribute(line, name,    parts) {
  split(line, parts, " " name "=\"")
  sub(/".*/, "", parts[2])
  return plain(parts[2])
}
function count_skip(why) {
  skipped++
  if (!(why in skips)) order[++reasons] = why
  skips[why]++
}
function fail(why) { failures[++failed] = name " (" why ")" }
# GoogleTest's own lines say nothing about why a test failed.
function keep(line) {
  gsub(/^\t*<system-out>|<\/system-out>$/, "", line)
  if (line ~ /^\[/ || line !~ /[^ \t]/ || line ~ /^( *[0-9]+ FAILED TEST|Running main|Note: Google)/) return
  output[++lines] = plain(line)
}
function print_output(test,    count, i) {
  count = split(ends[test], shown, "\n")
  for (i = 1; i <= count; i++) printf "  | %s\n", shown[i]
}

BEGIN { kMostShown = 8; kLastLines = 12 }
/^\t<testcase / {
  name = attribute($0, "name")
  status = attribute($0, "status")
  reason = ""; message = ""; reading = 0; lines = 0
  if (status == "run") passed++
  else if (status == "fail") fail("failed")
  next
}
status == "fail" && !/^\t\t?<\/?(failure|properties|property|testcase)/ { keep($0) }
/^\t\t<skipped / { message = attribute($0, "message"); next }
# GoogleTest: "FILE:LINE: Skipped", the reason, "[  SKIPPED ] NAME".
/: Skipped$/ && reason == "" { reading = 1; next }
/^\[/ { reading = 0 }
reading && NF { reason = reason (reason == "" ? "" : " ") plain($0) }
/^\t<\/testcase>/ {
  if (status == "disabled") count_skip("disabled")
  else if (status == "notrun" && message ~ /^SKIP_/) count_skip(reason == "" ? message : reason)
  else if (status == "notrun") fail(message)
  if (status == "fail" && failed <= kMostShown)
    for (i = lines > kLastLines ? lines - kLastLines + 1 : 1; i <= lines; i++)
      ends[failed] = ends[failed] (ends[failed] == "" ? "" : "\n") output[i]
}
END {
  for (i = 1; i <= reasons; i++) printf "skipped %d: %s\n", skips[order[i]], order[i]
  for (i = 1; i <= failed; i++) { printf "failed: %s\n", failures[i]; print_output(i) }
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
