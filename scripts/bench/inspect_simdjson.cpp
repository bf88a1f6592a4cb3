// Counts messages by role and swipes with simdjson, on demand and by one thread:
// inspect_simdjson CHAT. It validates only what it looks at, and holds the whole file.
#include <cstdio>
#include <simdjson.h>

using namespace simdjson;

int main(int argc, char **argv) {
	if (argc != 2) return 2;
	padded_string chat;
	if (padded_string::load(argv[1]).get(chat)) return 2;
	ondemand::parser parser;
	ondemand::document_stream lines;
	if (parser.iterate_many(chat, 64 << 20).get(lines)) return 2;
	size_t messages = 0, user = 0, system = 0, swiped = 0;
	for (auto line : lines) {
		ondemand::object message;
		if (line.get_object().get(message)) continue;
		bool yes;
		if (message["is_user"].get(yes)) continue; // the header
		messages++;
		user += yes;
		system += !message["is_system"].get(yes) && yes;
		ondemand::array swipes;
		size_t n;
		swiped += !message["swipes"].get(swipes) && !swipes.count_elements().get(n) && n > 1;
	}
	std::printf("%zu messages, %zu user, %zu system, %zu swiped\n", messages, user, system, swiped);
}
