// SPDX-License-Identifier: BSD-2-Clause
// A C++ file as projects have them: a small machine, its assembler and its tests, on a dozen
// standard headers. The demonstration compiles it; what it computes does not matter there.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace machine {

using word = std::int64_t;

class fault : public std::runtime_error {
public:
	fault(std::size_t at, const std::string &what)
		: std::runtime_error("at " + std::to_string(at) + ": " + what)
	{
	}
};

class state {
public:
	word pop()
	{
		if (stack_.empty())
			throw fault(next, "the stack is empty");
		word value = stack_.back();
		stack_.pop_back();
		return value;
	}
	void push(word value)
	{
		stack_.push_back(value);
	}
	const std::vector<word> &stack() const
	{
		return stack_;
	}
	std::map<std::string, word> variables;
	std::size_t next = 0;
	bool halted = false;

private:
	std::vector<word> stack_;
};

struct instruction {
	virtual ~instruction() = default;
	virtual void run(state &machine) const = 0;
	virtual std::string text() const = 0;
};

template <typename Operation> struct binary : instruction {
	explicit binary(std::string name) : name_(std::move(name))
	{
	}
	void run(state &machine) const override
	{
		word right = machine.pop(), left = machine.pop();
		machine.push(Operation{}(left, right));
	}
	std::string text() const override
	{
		return name_;
	}

private:
	std::string name_;
};

struct constant : instruction {
	explicit constant(word value) : value_(value)
	{
	}
	void run(state &machine) const override
	{
		machine.push(value_);
	}
	std::string text() const override
	{
		return "push " + std::to_string(value_);
	}

private:
	word value_;
};

struct variable : instruction {
	variable(std::string name, bool store) : name_(std::move(name)), store_(store)
	{
	}
	void run(state &machine) const override
	{
		if (store_)
			machine.variables[name_] = machine.pop();
		else
			machine.push(machine.variables.at(name_));
	}
	std::string text() const override
	{
		return (store_ ? "store " : "load ") + name_;
	}

private:
	std::string name_;
	bool store_;
};

struct jump : instruction {
	jump(std::size_t target, bool if_zero) : target_(target), if_zero_(if_zero)
	{
	}
	void run(state &machine) const override
	{
		if (!if_zero_ || machine.pop() == 0)
			machine.next = target_;
	}
	std::string text() const override
	{
		return (if_zero_ ? "jz " : "jump ") + std::to_string(target_);
	}

private:
	std::size_t target_;
	bool if_zero_;
};

using program = std::vector<std::unique_ptr<instruction>>;
using words = std::vector<std::string>;
using maker = std::function<std::unique_ptr<instruction>(const words &)>;

class assembler {
public:
	assembler()
	{
		makers_["push"] = [](const words &w) {
			return std::make_unique<constant>(std::stoll(w.at(1)));
		};
		for (const std::string name : {"load", "store"})
			makers_[name] = [name](const words &w) {
				return std::make_unique<variable>(w.at(1), name == "store");
			};
		for (const std::string name : {"jz", "jump"})
			makers_[name] = [name](const words &w) {
				return std::make_unique<jump>(std::stoul(w.at(1)), name == "jz");
			};
		add_binary<std::plus<word>>("add");
		add_binary<std::minus<word>>("sub");
		add_binary<std::multiplies<word>>("mul");
		add_binary<std::less<word>>("less");
		add_binary<std::equal_to<word>>("equal");
	}
	program assemble(const std::string &text) const
	{
		std::istringstream lines(text);
		program result;
		for (std::string line; std::getline(lines, line);)
			result.push_back(read(line, result.size()));
		return result;
	}

private:
	template <typename Operation> void add_binary(const std::string &name)
	{
		makers_[name] = [name](const words &) {
			return std::make_unique<binary<Operation>>(name);
		};
	}
	std::unique_ptr<instruction> read(const std::string &line, std::size_t at) const
	{
		std::istringstream text(line);
		const words found{std::istream_iterator<std::string>(text), {}};
		auto maker = found.empty() ? makers_.end() : makers_.find(found.front());
		if (maker == makers_.end())
			throw fault(at, "no instruction '" + line + "'");
		return maker->second(found);
	}
	std::unordered_map<std::string, maker> makers_;
};

void run(const program &code, state &machine, std::size_t most)
{
	for (std::size_t steps = 0; machine.next < code.size(); steps++) {
		if (steps == most)
			throw fault(machine.next, "does not end");
		code[machine.next++]->run(machine);
	}
}

} // namespace machine

namespace {

struct expectation {
	std::string name, code, variable;
	machine::word value;
};

const std::array<expectation, 3> expectations = {{
	{"sum", "push 2\npush 3\nadd\nstore x", "x", 5},
	{"branch", "push 0\njz 4\npush 1\nstore x\npush 7\nstore x", "x", 7},
	{"loop",
	 "push 0\nstore s\npush 10\nstore i\nload i\njz 15\nload s\nload i\nadd\nstore s\n"
	 "load i\npush 1\nsub\nstore i\njump 4",
	 "s", 55},
}};

bool holds(const machine::assembler &assembler, const expectation &expected)
{
	machine::state state;
	machine::run(assembler.assemble(expected.code), state, 1000);
	return state.variables.at(expected.variable) == expected.value;
}

} // namespace

int main()
{
	const machine::assembler assembler;
	std::unordered_map<std::string, bool> results;
	for (const auto &expected : expectations)
		results[expected.name] = holds(assembler, expected);
	std::set<std::string> failed;
	for (const auto &[name, result] : results) {
		std::cout << std::left << std::setw(8) << name << (result ? "ok" : "FAILED") << '\n';
		if (!result)
			failed.insert(name);
	}
	return failed.empty() ? 0 : 1;
}
