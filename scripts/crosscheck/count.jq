# Counts a chat that is read raw (jq -Rn): lines that parse to objects, less the
# header, with JavaScript's truth.
def true_: . != null and . != false and . != 0 and . != "";
def extra_: (.extra | objects) // {};
def system_: (extra_ | (.type | true_) or (.isSmallSys | true_) or (.tool_invocations | type == "array")) or ((.is_system | true_) and .name == "System");
[inputs | sub("^\ufeff"; "") | fromjson? | objects]
| (if (.[0] // {}) | has("chat_metadata") or ((has("user_name") or has("character_name")) and (has("mes") | not)) then .[1:] else . end)
| {
    messages: length,
    user: map(select((system_ | not) and (.is_user | true_))) | length,
    character: map(select((system_ | not) and (.is_user | true_ | not))) | length,
    system: map(select(system_)) | length,
    hidden: map(select((.is_system | true_) and ((.extra | objects | .type) // null | true_ | not))) | length,
    with_swipes: map(select((.swipes | type) == "array" and (.swipes | length) > 1)) | length,
    swipes: (map(.swipes | arrays | length) | add // 0)
  }
