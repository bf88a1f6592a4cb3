"""Cuts a chat with Python's json, a line at a time: cut.py CHAT OUTPUT MESSAGES"""

import json
import sys

source, target, messages = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
    header = json.loads(next(lines))
    header["chat_metadata"]["main_chat"] = "source"
    out.write(json.dumps(header, ensure_ascii=False, separators=(",", ":")))
    for _ in range(messages):
        line = next(lines, None)
        if line is None:
            break
        out.write("\n" + json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":")))
