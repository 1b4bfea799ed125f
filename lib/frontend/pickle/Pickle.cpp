// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/pickle/Pickle.h"
#include "frontend/common/ImportError.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace accc;
using namespace accc::pickle;
using frontend::fail;
using frontend::ImportError;
using llvm::StringRef;
using llvm::Twine;
using Kind = Value::Kind;

// How deep values nest; modules in modules are far from it.
static constexpr int64_t kDeepest = 500;

/// The classes and functions that a pickle of PyTorch may name.
static bool isAllowed(StringRef module, StringRef name) {
  static constexpr std::pair<const char *, const char *> allowed[] = {
      {"collections", "OrderedDict"},
      {"torch._utils", "_rebuild_tensor_v2"},
      {"torch._utils", "_rebuild_parameter"},
      {"torch._utils", "_rebuild_parameter_with_state"},
      {"torch._tensor", "_rebuild_from_type_v2"},
      {"torch.jit._pickle", "build_intlist"},
      {"torch.jit._pickle", "build_tensorlist"},
      {"torch.jit._pickle", "build_doublelist"},
      {"torch.jit._pickle", "build_boollist"},
      {"torch.jit._pickle", "restore_type_tag"},
  };
  for (auto [m, n] : allowed)
    if (module == m && name == n)
      return true;
  if (module == "torch" && name.ends_with("Storage"))
    return true;
  return module == "__torch__" || module.starts_with("__torch__.");
}

namespace accc::pickle {

/// The machine that a pickle is a program of: a stack of values, marks in it, and a memo.
class Reader {
public:
  Reader(Document &document, llvm::ArrayRef<char> bytes) : document(document), bytes(bytes) {}

  const Value *run() {
    if (take(1)[0] != char(0x80) || take(1)[0] != 2)
      fail("it is no pickle of protocol 2");
    while (true)
      if (const Value *result = step())
        return result;
  }

private:
  StringRef take(size_t count) {
    if (bytes.size() - at < count)
      fail("it ends in the middle of an instruction");
    StringRef taken(bytes.data() + at, count);
    at += count;
    return taken;
  }
  template <typename T, llvm::endianness order = llvm::endianness::little> T number() {
    return llvm::support::endian::read<T, order>(take(sizeof(T)).data());
  }
  StringRef line() {
    StringRef rest(bytes.data() + at, bytes.size() - at);
    size_t end = rest.find('\n');
    if (end == StringRef::npos)
      fail("it ends in the middle of a name");
    at += end + 1;
    return rest.take_front(end);
  }

  // ---- the stack ----
  Value *make(Kind kind) {
    Value &value = document.values.emplace_back();
    value.kind = kind;
    return &value;
  }
  Value *push(Value *value) {
    stack.push_back(value);
    return value;
  }
  size_t base() const { return marks.empty() ? 0 : marks.back(); }
  Value *top() {
    if (stack.size() <= base())
      fail("an instruction finds no value to work on");
    return stack.back();
  }
  Value *pop() {
    Value *value = top();
    stack.pop_back();
    return value;
  }
  /// The values above the last mark, which goes with them.
  std::vector<const Value *> popMarked() {
    if (marks.empty())
      fail("an instruction finds no mark");
    std::vector<const Value *> values(stack.begin() + static_cast<ptrdiff_t>(marks.back()),
                                      stack.end());
    stack.resize(marks.back());
    marks.pop_back();
    return values;
  }
  void pushInteger(int64_t value) { push(make(Kind::Integer))->integer = value; }
  void pushBoolean(bool value) { push(make(Kind::Boolean))->boolean = value; }
  void pushTuple(size_t count) {
    std::vector<const Value *> elements(count);
    for (size_t i = count; i-- > 0;)
      elements[i] = pop();
    push(make(Kind::Tuple))->elements = std::move(elements);
  }

  // ---- instructions ----
  /// Runs one; the last gives the value of the whole.
  const Value *step() {
    char code = take(1)[0];
    switch (code) {
    case ']':
      push(make(Kind::List));
      break;
    case ')':
      push(make(Kind::Tuple));
      break;
    case '}':
      push(make(Kind::Dict));
      break;
    case '(':
      marks.push_back(stack.size());
      break;
    case 'l': {
      std::vector<const Value *> elements = popMarked();
      push(make(Kind::List))->elements = std::move(elements);
      break;
    }
    case 't': {
      std::vector<const Value *> elements = popMarked();
      push(make(Kind::Tuple))->elements = std::move(elements);
      break;
    }
    case 'd': {
      std::vector<const Value *> items = popMarked();
      setItems(push(make(Kind::Dict)), items);
      break;
    }
    case char(0x85):
    case char(0x86):
    case char(0x87):
      pushTuple(static_cast<size_t>(code - char(0x85)) + 1);
      break;
    case 'a': {
      const Value *element = pop();
      append({element});
      break;
    }
    case 'e':
      append(popMarked());
      break;
    case 's': {
      const Value *value = pop(), *key = pop();
      setItems(top(), {key, value});
      break;
    }
    case 'u': {
      std::vector<const Value *> items = popMarked();
      setItems(top(), items);
      break;
    }
    case 'q':
      memo[number<uint8_t>()] = top();
      break;
    case 'r':
      memo[number<uint32_t>()] = top();
      break;
    case 'h':
      recall(number<uint8_t>());
      break;
    case 'j':
      recall(number<uint32_t>());
      break;
    case 'N':
      push(make(Kind::None));
      break;
    case char(0x88):
      pushBoolean(true);
      break;
    case char(0x89):
      pushBoolean(false);
      break;
    case 'J':
      pushInteger(number<int32_t>());
      break;
    case 'K':
      pushInteger(number<uint8_t>());
      break;
    case 'M':
      pushInteger(number<uint16_t>());
      break;
    case char(0x8a):
      readLong();
      break;
    case 'G':
      push(make(Kind::Real))->real =
          llvm::bit_cast<double>(number<uint64_t, llvm::endianness::big>());
      break;
    case 'X': {
      StringRef text = take(number<uint32_t>());
      if (!llvm::json::isUTF8(text))
        fail("a text is not UTF-8");
      push(make(Kind::String))->text = text.str();
      break;
    }
    case 'c':
      readGlobal();
      break;
    case char(0x81): {
      Value *arguments = pop(), *type = pop();
      if (!type->is(Kind::Global) || !arguments->is(Kind::Tuple) || !arguments->elements.empty())
        fail("an object is made of something else than its class");
      push(make(Kind::Object))->type = type;
      break;
    }
    case 'b':
      build();
      break;
    case 'R':
      call();
      break;
    case 'Q': {
      const Value *name = pop();
      push(make(Kind::Persistent))->elements = {name};
      break;
    }
    case '.': {
      const Value *result = pop();
      if (!stack.empty() || !marks.empty() || at != bytes.size())
        fail("there is more than one value");
      return result;
    }
    default:
      fail("the instruction " + Twine(unsigned(static_cast<unsigned char>(code))) +
           " is none that PyTorch writes");
    }
    return nullptr;
  }

  void append(const std::vector<const Value *> &elements) {
    Value *list = top();
    if (!list->is(Kind::List))
      fail("elements are appended to what is no list");
    list->elements.insert(list->elements.end(), elements.begin(), elements.end());
  }

  void setItems(Value *dict, const std::vector<const Value *> &items) {
    if (!dict->is(Kind::Dict) || items.size() % 2 != 0)
      fail("items are set of what is no dict, or a key has no value");
    for (size_t i = 0; i < items.size(); i += 2)
      if (Kind key = items[i]->kind;
          key != Kind::String && key != Kind::Integer && key != Kind::Real && key != Kind::Boolean)
        fail("the key of a dict is no number and no text");
    dict->elements.insert(dict->elements.end(), items.begin(), items.end());
  }

  void recall(uint32_t index) {
    auto found = memo.find(index);
    if (found == memo.end())
      fail("the memo has no value " + Twine(index));
    push(found->second);
  }

  void readLong() {
    StringRef digits = take(number<uint8_t>());
    if (digits.size() > 8)
      fail("an integer has more than 64 bits");
    uint64_t value = !digits.empty() && digits.back() < 0 ? ~uint64_t(0) : 0;
    for (size_t i = digits.size(); i-- > 0;)
      value = (value << 8) | static_cast<unsigned char>(digits[i]);
    pushInteger(static_cast<int64_t>(value));
  }

  void readGlobal() {
    StringRef module = line(), name = line();
    if (!isAllowed(module, name))
      fail("it names '" + module + "." + name +
           "', which is none of the classes and functions that models need");
    Value *global = push(make(Kind::Global));
    global->module = module.str();
    global->text = name.str();
  }

  void build() {
    const Value *state = pop();
    Value *object = top();
    if (object->is(Kind::Dict))
      return; // the attributes of an OrderedDict: state_dict() keeps versions in them
    if (!object->is(Kind::Object) || !object->elements.empty())
      fail("a state is given to what is no new object");
    object->elements = {state};
  }

  void call() {
    const Value *arguments = pop(), *function = pop();
    bool isMember =
        function->module.starts_with("__torch__") &&
        (arguments->is(Kind::String) || arguments->is(Kind::Integer) || arguments->is(Kind::Real));
    if (!function->is(Kind::Global) || (!arguments->is(Kind::Tuple) && !isMember))
      fail("what is called is no function");
    if (function->isGlobal("collections.OrderedDict") && arguments->elements.empty()) {
      push(make(Kind::Dict));
      return;
    }
    Value *call = push(make(Kind::Call));
    call->type = function;
    call->elements = isMember ? std::vector<const Value *>{arguments} : arguments->elements;
  }

  Document &document;
  llvm::ArrayRef<char> bytes;
  size_t at = 0;
  std::vector<Value *> stack;
  std::vector<size_t> marks;
  llvm::DenseMap<uint64_t, Value *> memo;
};

} // namespace accc::pickle

/// Values that refer to themselves, or nest too deeply, are refused: without recursion.
static void checkNesting(const Value *root) {
  llvm::DenseMap<const Value *, int64_t> heights; // 0: on the way from the root
  struct Frame {
    const Value *value;
    size_t next = 0;
    int64_t height = 1;
  };
  std::vector<Frame> path = {{root}};
  heights[root] = 0;
  while (!path.empty()) {
    Frame &frame = path.back();
    if (frame.next < frame.value->elements.size()) {
      const Value *element = frame.value->elements[frame.next];
      auto [known, isNew] = heights.insert({element, 0});
      if (isNew) {
        path.push_back({element});
        if (path.size() > kDeepest)
          fail("its values nest more than " + Twine(kDeepest) + " deep");
        continue;
      }
      if (known->second == 0)
        fail("a value contains itself");
      frame.height = std::max(frame.height, known->second + 1);
      if (frame.height > kDeepest)
        fail("its values nest more than " + Twine(kDeepest) + " deep");
      ++frame.next;
      continue;
    }
    heights[frame.value] = frame.height;
    path.pop_back();
  }
}

Document::Document(llvm::ArrayRef<char> bytes, StringRef record) {
  try {
    top = Reader(*this, bytes).run();
    checkNesting(top);
  } catch (const ImportError &error) {
    fail("the record '" + record + "' cannot be read: " + error.message);
  }
}

// ---- values ----

bool Value::isGlobal(StringRef name) const { return kind == Kind::Global && this->name() == name; }

int64_t Value::asInteger(const char *what) const {
  if (kind != Kind::Integer)
    fail(Twine(what) + " is no integer");
  return integer;
}

bool Value::asBoolean(const char *what) const {
  if (kind != Kind::Boolean)
    fail(Twine(what) + " is neither True nor False");
  return boolean;
}

const std::string &Value::asString(const char *what) const {
  if (kind != Kind::String)
    fail(Twine(what) + " is no text");
  return text;
}

llvm::ArrayRef<const Value *> Value::asSequence(const char *what) const {
  if (kind != Kind::Tuple && kind != Kind::List)
    fail(Twine(what) + " is no list");
  return elements;
}
