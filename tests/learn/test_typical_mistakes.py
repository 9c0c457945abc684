"""Typical mistakes of beginners: the message names the mistake, in both languages."""

import pytest

from kerascope.learn.exercises import all_exercises
from kerascope.learn.running import check_file, run_checker
from kerascope.learn.servers import CAN_FORK, ForkServer

EXERCISES = {exercise.name: exercise for exercise in all_exercises()}
COUNT = "def parameters(sizes):\n    "
SUM = "sum(a * b + b for a, b in zip(sizes, sizes[1:]))"
BATCHES = "[(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]"
MUL = "[arriving * y, arriving * x]"

# The exercise; the whole answer, or a change of the solution; words of the English message, and of
# the Chinese one.
MISTAKES = {
    "printed": (
        "count_parameters", f"{COUNT}print({SUM})\n",
        "parameters(...) printed 1344 but returned nothing", "打印了 1344，却没有返回值",
    ),
    "no return": (
        "count_parameters", f"{COUNT}n = {SUM}\n",
        "yours is None: its first layer has 1,344 = 20 x 64 + 64; did parameters(...) end without",
        "parameters(...) 是不是忘了 `return`",
    ),
    "no return in a branch": (
        "count_parameters", f"{COUNT}if len(sizes) == 2:\n        return {SUM}\n    n = {SUM}\n",
        "did parameters(...) end without `return`?", "是不是忘了 `return`",
    ),
    "a float": (
        "count_parameters", f"{COUNT}return 2 * {SUM} / 2\n",
        "to be the int 1,344, yours is the float 1344.0", "应为整数（int）1,344",
    ),
    "text": (
        "count_parameters", f"{COUNT}return str({SUM})\n",
        "yours is the text '1344'", "你的是文本 '1344'",
    ),
    "a list for a number": (
        "count_parameters", f"{COUNT}return [{SUM}]\n",
        "yours is the list [1344]", "你的是列表 [1344]",
    ),
    "a tuple by a comma": (
        "count_parameters", f"{COUNT}return {SUM},\n",
        "yours is the tuple (1344,)", "你的是元组 (1344,)",
    ),
    "a generator": (
        "count_parameters", f"{COUNT}return {SUM[3:]}\n",
        "yours is a generator (list(...) makes a list of it)", "你的是生成器（",
    ),
    "not called": (
        "count_parameters", f"{COUNT}return parameters\n",
        "yours is the function parameters (not called: add `()`)", "函数 parameters（没有调用",
    ),
    "a misspelt function": (
        "count_parameters", "def paramaters(sizes):\n    return 84\n",
        "to define parameters, it does not; is paramaters a misspelling of it?",
        "应有 parameters，但没有找到；paramaters 是不是拼错了？",
    ),
    "a number for a function": (
        "count_parameters", "parameters = 1344\n",
        "to be a function, yours is 1,344: begin it with `def parameters(...):`",
        "请用 `def parameters(...):` 定义",
    ),
    "no parameter": (
        "count_parameters", "def parameters():\n    return 84\n",
        "are its parameters those of the task?", "它的参数与题目一致吗？",
    ),
    "endless recursion": (
        "count_parameters", f"{COUNT}return parameters(sizes)\n",
        "at line 2 with RecursionError: maximum recursion depth exceeded; it calls itself",
        "它不断地调用自己",
    ),
    "a misspelt variable": (
        "count_parameters", f"{COUNT}return len(size)\n",
        "name 'size' is not defined; did you mean sizes?", "是不是想写 sizes？",
    ),
    "an index too large": (
        "count_parameters", f"{COUNT}return sizes[len(sizes)]\n",
        "the last index is the length minus 1", "最后一个下标是长度减 1",
    ),
    "assigned in a branch": (
        "count_parameters", f"{COUNT}if len(sizes) > 99:\n        n = 1\n    return n\n",
        "the line that assigns n was not run", "给 n 赋值的那一行没有执行",
    ),
    "a value that is None": (
        "count_parameters", f"{COUNT}return print() + 1\n",
        "a value there is None", "其中有个值是 None",
    ),
    "no colon": (
        "count_parameters", "def parameters(sizes)\n    return 1\n",
        "line 1 is not Python: expected ':'", "这一行末尾少了冒号",
    ),
    "a Chinese colon": (
        "count_parameters", "def parameters(sizes)：\n    return 1\n",
        "type it with an English keyboard", "这是中文标点",
    ),
    "no indentation": (
        "count_parameters", "def parameters(sizes):\nreturn 1\n",
        "expected an indented block", "这里应当缩进",
    ),
    "the argument changed": (
        "count_parameters", f"{COUNT}n = {SUM}\n    sizes.pop()\n    return n\n",
        "not to change its arguments, yours has changed [20, 64] into [20]", "不应改动交给它的东西",
    ),
    "a generator for a list": (
        "slice_batches", (BATCHES, f"({BATCHES[1:-1]})"),
        "expected make_batches(50, 32) to be a list, yours is a generator", "你的是生成器（",
    ),
    "an array for a list": (
        "slice_batches", (BATCHES, f"__import__('numpy').array({BATCHES})"),
        "to be a list, yours is an array (2, 2) int64", "你的是数组 (2, 2) int64",
    ),
    "one result of two": (
        "attend", ("return weights @ value, weights", "return weights @ value"),
        "yours is an array (5, 4, 3) float64: a list of 2 is needed", "应是 2 项的列表",
    ),
    "off by one": (
        "slice_batches", ("start + batch_size)", "start + batch_size - 1)"),
        "to be [(0, 32), (32, 50)], yours is [(0, 31), (32, 50)]", "你的是 [(0, 31), (32, 50)]",
    ),
    "a wrong shape": (
        "slice_batches", ("[array[rows] for array in ins]", "[array[rows][None] for array in ins]"),
        "the shape of x of rows [4, 0, 3] to be (3, 2), yours is (1, 3, 2)", "的形状应为 (3, 2)",
    ),
    "a tensor for a list": (
        "gradient_of_mul", (MUL, "arriving * y"),
        "to be a list, yours is the tensor 'multiply': a list of 2 is needed", "应是 2 项的列表",
    ),
    "one entry too few": (
        "gradient_of_mul", (MUL, "[arriving * y]"),
        "expected grad(...) to have 2 items, yours has 1", "应有 2 项，你的有 1 项",
    ),
    "no self": (
        "gradient_of_mul", ("def grad(self, ", "def grad("),
        "is `self` its first parameter?", "它的第一个参数是 self 吗？",
    ),
    "a misspelt method": (
        "gradient_of_mul", ("def grad(", "def gradient("),
        "yours is None; your class Mul does not define grad", "你的类 Mul 没有定义 grad",
    ),
    "a dict for a list": (
        "reverse_sweep", ("return [grads.get(x) for x in wrt]", "return grads"),
        "to be a list, yours is the dict {", "你的是字典 {",
    ),
    "a dict of one's own tensors": (
        "gradient", ("return [grads.get(x) for x in wrt]", "return grads"),
        "yours is the dict {a Tensor: a Tensor", "你的是字典 {Tensor 对象: Tensor 对象",
    ),
    "a key too early": (
        "gradient", ("grads[x] + term if x in grads else term", "grads[x] + term"),
        "the dict has no such key: is it stored too late, or must `in` be asked first?",
        "字典里没有这个键",
    ),
    "a None that is added": (
        "gradient", ("            if term is not None:\n    ", ""),
        "a value there is None: must it be skipped, or does", "其中有个值是 None：应当跳过它，还是",
    ),
    "K for one's own tensors": (
        "gradient", ("ones_like(loss)}", "__import__('keras').backend.ones_like(loss)}"),
        "K and kerascope take their own tensors; for yours, my_engine has its own functions",
        "你的张量请用 my_engine 里的函数",
    ),
    "K.gradients of one's own tensors": (
        "gradient", ("return [", "return __import__('keras').backend.gradients(loss, wrt) or ["),
        "for yours, my_engine has its own functions", "你的张量请用 my_engine 里的函数",
    ),
    "one element of many": (
        "gradient_of_relu", ("K.cast(K.greater(x, 0), x.dtype)", "K.clip(x * 1e6, 0, 1)"),
        ", where -3 arrives, at [0], to be -3", "、传来 -3 时的梯度，[0] 处应为 -3",
    ),
    "an unknown name": (
        "gradient_of_mul", (MUL, "[gradient * y, gradient * x]"),
        "NameError: name 'gradient' is not defined", "这个名字没有定义",
    ),
    "a shuffle in place": (
        "shuffle_rows", ("random.permutation(rows) if", "random.shuffle(rows) if"),
        "to be numbers, yours is None; did order_of_rows(...) end without `return`?",
        "应是数值，你的是 None",
    ),
    "a truth value": (
        "call_twice", ("nodes_before = 0", "nodes_before = False"),
        "to be 0, yours is the truth value False", "你的是真值 False",
    ),
    "max of arrays": (
        "write_maximum", ("np.where(x > y, x, y)", "max(x, y)"),
        "an array has many truth values", "数组有许多真值",
    ),
    "pairs without variables": (
        "sgd_updates", ("(p, p - self.lr * g)", "p - self.lr * g"),
        "expected pairs[0] to be a pair (variable, new value)", "应是二元组（变量，新值）",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def run():
    if CAN_FORK:
        server = ForkServer()
        yield server.run
        server.close()
    else:
        yield run_checker


@pytest.mark.parametrize("name", MISTAKES)
def test_the_message_names_the_mistake(name, run, tmp_path):
    exercise, answer, en, zh = MISTAKES[name]
    exercise = EXERCISES[exercise]
    if not isinstance(answer, str):
        old, new = answer
        answer = exercise.solution.read_text(encoding="utf-8")
        assert old in answer
        answer = answer.replace(old, new)
    path = tmp_path / f"{exercise.name}.py"
    path.write_text(answer, encoding="utf-8")
    message = check_file(exercise, path, 60, run).message
    assert en in message.en
    assert zh in message.zh
