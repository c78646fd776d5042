# Reads CTest's JUnit file. Prints how many tests were skipped for which reason, which tests failed,
# and one closing line. CTest's own totals are not usable, because they count a test whose program
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

/^\t<testcase / {
  name = attribute($0, "name")
  status = attribute($0, "status")
  reason = ""; message = ""; reading = 0
  if (status == "run") passed++
  else if (status == "fail") fail("failed")
  next
}
/^\t\t<skipped / { message = attribute($0, "message"); next }
# GoogleTest: "FILE:LINE: Skipped", the reason, "[  SKIPPED ] NAME".
/: Skipped$/ && reason == "" { reading = 1; next }
/^\[/ { reading = 0 }
reading && NF { reason = reason (reason == "" ? "" : " ") plain($0) }
/^\t<\/testcase>/ {
  if (status == "disabled") count_skip("disabled")
  else if (status == "notrun" && message ~ /^SKIP_/) count_skip(reason == "" ? message : reason)
  else if (status == "notrun") fail(message)
}
END {
  for (i = 1; i <= reasons; i++) printf "skipped %d: %s\n", skips[order[i]], order[i]
  for (i = 1; i <= failed; i++) printf "failed: %s\n", failures[i]
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
