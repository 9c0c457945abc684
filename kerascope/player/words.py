"""The texts of the player, in English and Chinese."""

from __future__ import annotations

from collections.abc import Iterable

from kerascope.errors import ArgumentError
from kerascope.lessons.lesson import LANGUAGES

Text = dict[str, str]

# The labels of the page, and the words of its script.
WORDS: dict[str, tuple[str, str]] = {
    "step": ("Step", "步"),
    "of": ("of", "/"),
    "previous": ("Previous", "上一步"),
    "next": ("Next", "下一步"),
    "play": ("Play", "播放"),
    "pause": ("Pause", "暂停"),
    "first": ("First step", "第一步"),
    "last": ("Last step", "最后一步"),
    "by": ("Step by", "步长"),
    "unit all": ("every event", "每个事件"),
    "unit op": ("op", "运算"),
    "unit call": ("call", "调用"),
    "unit depth": ("depth", "深度"),
    "unit phase": ("phase", "阶段"),
    "unit batch": ("batch", "批"),
    "unpacked": (
        "This page is compressed; its script unpacks it.",
        "这个页面经过压缩，由脚本解开。",
    ),
    "zero": ("is exactly 0", "恰好为 0"),
    "arriving": ("d loss / d", "d loss / d"),
    "change": ("Next change of state", "下一次状态变化"),
    "stop": ("Next stop-point", "下一个停点"),
    "stops": ("Stop-points", "停点"),
    "differs": ("First difference", "首个差异"),
    "equal": ("Equal so far.", "到此都相同。"),
    "here": ("The runs first differ here.", "两次运行从这里开始不同。"),
    "since": ("The runs differ since step", "两次运行不同，始于第"),
    "never": ("The results are equal at every step.", "每一步的结果都相同。"),
    "copy": ("Copy as debugger commands", "复制为调试器命令"),
    "copied": ("Copied", "已复制"),
    "how": (
        "Save the tape, tape.save('t.jsonl'), open it, kerascope replay t.jsonl, and paste:",
        "先保存跟踪 tape.save('t.jsonl')，再打开 kerascope replay t.jsonl，然后粘贴：",
    ),
    "graph": ("Graph", "图"),
    "list": ("The graph as a list", "以列表显示图"),
    "now": ("Now", "此刻"),
    "tables": ("Names at this moment", "此刻的名字"),
    "names": ("single names", "单个名字"),
    "name": ("name", "名字"),
    "value": ("value", "值"),
    "new": ("new", "新"),
    "empty": ("empty", "空"),
    "peek": ("A closer look", "细看"),
    "source": ("Source", "源码"),
    "script": ("Your script", "你的脚本"),
    "engine": ("kerascope", "kerascope"),
    "none": ("No line of source belongs to this event.", "这个事件不对应任何源码行。"),
    "steps": ("All steps", "全部步骤"),
    "lanes": ("Lanes", "泳道"),
    "build": ("build", "构建"),
    "forward": ("forward", "前向"),
    "backward": ("backward", "反向"),
    "update": ("update", "更新"),
    "loss": ("loss", "损失"),
    "metrics": ("metrics", "评价"),
    "commit": ("commit", "提交"),
    "gradients": ("graph of the gradients", "梯度的图"),
    "get_updates": ("tuples made", "造出更新元组"),
    "B": ("It begins.", "开始。"),
    "E": ("It is done.", "完成。"),
    "I": ("", ""),
    "state0": ("to do", "未做"),
    "state1": ("now", "正在"),
    "state2": ("done", "已做"),
    "state3": ("gradient", "梯度已到"),
    "state4": ("failed", "失败"),
    "gate": ("Say first, then look", "先猜，再看"),
    "answer": ("Your answer", "你的答案"),
    "show": ("Show", "看结果"),
    "said": ("You said:", "你猜的是："),
    "is": ("It is:", "结果是："),
    "keys": (
        "Keys: ← → one step, Home and End, space play or pause, c next change, s next stop-point",
        "按键：← → 走一步，Home 与 End，空格播放或暂停，c 下一次变化，s 下一个停点",
    ),
}

# The texts of the tools and panels of a picture's page, in Chinese by the English text.
PAGE_WORDS: dict[str, str] = {
    "Search": "搜索",
    "name, class, shape": "名字、类、形状",
    "Expand all": "全部展开",
    "Collapse": "收起",
    "Zoom out": "缩小",
    "Zoom in": "放大",
    "Show the whole picture": "显示整幅图",
    "Fit": "适合",
    "Turn": "转向",
    "Top to bottom, or left to right": "自上而下，或自左而右",
    "Dark": "深色",
    "Light": "浅色",
    "Light or dark": "浅色或深色",
    "Help": "帮助",
    "Click": "点击",
    "select a box; a box with + opens, the title of a frame closes it":
        "选中一个框；带 + 的框会打开，点外框的标题则收起",
    "move into the picture": "进入图中",
    "against and along the arrows": "逆着或顺着箭头走",
    "select, open, close": "选中、打开、收起",
    "close the frame around it": "收起外面的框",
    "search; Enter: next, Shift+Enter: previous":
        "搜索；Enter 下一个，Shift+Enter 上一个",
    "clear": "清除",
    "zoom in, zoom out, show all; also Ctrl and the wheel": "放大、缩小、全图；也可用 Ctrl 加滚轮",
    "Close": "关闭",
    "Details": "详情",
    "box": "个框",
    "boxes": "个框",
    "for": "，全图",
    "of": "/",
    "opened": "已打开",
    "closed": "已收起",
    "nothing found": "没有找到",
    "Close details": "关闭详情",
    "Inputs from": "输入来自",
    "Outputs to": "输出到",
    "Close frame": "收起外框",
    "Open": "打开",
    "class": "类",
    "arguments": "参数",
    "input": "输入",
    "output": "输出",
    "same weights as": "与之共享权重",
    "boxes inside": "里面的框数",
    "output of the model": "模型的输出",
    "of the weight": "所属权重",
    "layer": "层",
    "depth": "深度",
    "yes": "是",
    "no": "否",
    "and {} more": "另有 {} 个",
    "from": "来自",
    "inside": "在里面",
    "Click to close.": "点击收起。",
    "one step": "走一步",
    "the first, the last step": "第一步、最后一步",
    "Space": "空格",
    "play or pause": "播放或暂停",
    "next change of state": "下一次状态变化",
    "next stop-point": "下一个停点",
}  # fmt: skip

# The meaning of each kind of event.
KINDS: dict[str, tuple[str, str]] = {
    "build": ("A model is being built.", "正在构建模型。"),
    "layer.init": ("A layer is made; it has no weights yet.", "造出一个层，它还没有权重。"),
    "layer.build": ("The layer makes its weights.", "层造出自己的权重。"),
    "layer.call": ("The layer is called on tensors.", "在张量上调用层。"),
    "node.create": ("The call is recorded: a Node.", "这次调用被记下：一个 Node。"),
    "op.create": ("A symbolic op is made; nothing is computed.", "造出一个符号运算，什么都没算。"),
    "weight.create": ("A weight is created.", "一个权重诞生。"),
    "weight.set": ("A weight is given numbers.", "给权重赋值。"),
    "build_map": ("The graph is walked from the outputs to the inputs.", "从输出往输入走遍图。"),
    "map.visit": ("A node is visited, then all before it.", "访问一个结点，再访问它前面的。"),
    "map.mark": ("The node is marked as in progress.", "标记：这个结点正在处理。"),
    "map.skip": ("The node was visited before.", "这个结点已经见过。"),
    "depth_sort": ("Every node gets its depth.", "每个结点得到深度。"),
    "map.depth": ("The longest way to an output counts.", "取到输出的最长路。"),
    "check_graph": ("Is every input there when it is needed?", "用到时，输入都有了吗？"),
    "depth.put": ("The node is put into its depth.", "把结点放进它的深度。"),
    "check.depth": ("A depth is checked.", "检查一个深度。"),
    "run_internal_graph": ("The model is called on new tensors.", "在新张量上调用模型。"),
    "tmap.get": ("An input is taken from tensor_map.", "从 tensor_map 取输入。"),
    "tmap.set": ("An output is put into tensor_map.", "把输出放进 tensor_map。"),
    "depth": ("All nodes of one depth are run.", "运行同一深度的全部结点。"),
    "compile": ("Loss, metrics and optimizer are tied to the model.", "接上损失、评价和优化器。"),
    "loss": ("The loss.", "损失。"),
    "loss.term": ("One output's loss is added.", "加上一个输出的损失。"),
    "reg.term": ("A regularizer's part is added.", "加上正则项。"),
    "metric.term": ("One metric of one output.", "一个输出的一项评价。"),
    "metrics": ("The metrics.", "评价。"),
    "metric.value": ("A metric has its value.", "一项评价有了值。"),
    "rng.draw": ("Random numbers are drawn.", "抽取随机数。"),
    "mask": ("A mask is passed with its tensor.", "掩码随张量走。"),
    "override": ("You have changed the value of a name.", "你给一个名字换了值。"),
    "event": ("Something happened.", "发生了一件事。"),
    "update.dup": ("This variable already has a tuple; the first one is used.",
                   "这个变量已有更新元组，以第一个为准。"),
    "function": ("A function is made or called.", "造出或调用一个函数。"),
    "get_updates": ("Tuples (variable, new value) are made; no variable changes.",
                    "造出更新元组（变量，新值），变量都没变。"),
    "gradients": ("The gradient is made as a graph, from the loss back.",
                  "从损失往回，造出梯度的图。"),
    "grad.node": ("The gradient goes back through a layer.", "梯度往回穿过一层。"),
    "grad.op": ("The gradient goes back through an op.", "梯度往回穿过一个运算。"),
    "grad.accum": ("A contribution to a gradient arrives; several are added.",
                   "一份梯度到了，多份就相加。"),
    "grad.none": ("No gradient arrives here.", "这里没有梯度。"),
    "opt.param": ("The optimizer makes the new value of a weight.", "优化器造出权重的新值。"),
    "slot.create": ("The optimizer creates a slot variable.", "优化器造出自己的记忆。"),
    "update.pair": (
        "One tuple (variable, new value) is recorded.",
        "记下一个更新元组（变量，新值）。",
    ),
    "fit": ("The model is trained.", "训练模型。"),
    "epoch": ("Once through all data.", "一轮：把数据过一遍。"),
    "batch": ("One batch.", "一批。"),
    "callbacks": ("Callbacks are called.", "通知回调。"),
    "callback": ("A callback is called.", "通知一个回调。"),
    "evaluate": ("The model is evaluated.", "评估模型。"),
    "predict": ("The model predicts.", "模型预测。"),
    "forward": ("The forward pass.", "前向传播。"),
    "backward": ("The values of the gradients are computed.", "算出梯度的值。"),
    "node": ("One call of one layer is computed.", "计算一个层的一次调用。"),
    "op": ("One op computes its array.", "一个运算算出数组。"),
    "update": ("Phase one: all new values are computed; no variable changes.",
               "第一段：算出全部新值，变量都没变。"),
    "update.param": ("The new value of a weight is computed.", "算出权重的新值。"),
    "commit": ("Phase two: all variables take their new values.", "第二段：所有变量换上新值。"),
    "update.apply": ("A variable takes its new value.", "一个变量换上新值。"),
}  # fmt: skip


def in_languages(text: str | Text, where: str) -> Text:
    """Return a text in each language. A single string is used for all languages.

    Raises
    ------
    ArgumentError
        If a language is missing.

    Examples
    --------
    >>> in_languages("tensor_map", "Player: title")
    {'en': 'tensor_map', 'zh': 'tensor_map'}
    """
    if isinstance(text, str) and text.strip():
        return dict.fromkeys(LANGUAGES, text)
    if not isinstance(text, dict) or set(text) != set(LANGUAGES) or not all(text.values()):
        expected = '{"en": "...", "zh": "..."}'
        raise ArgumentError(f"{where}: expected {expected}, got {text!r:.80}.")
    return {language: str(text[language]) for language in LANGUAGES}


def words_for_script() -> dict[str, Text]:
    """Return the words that the page's script writes, by their names and by language."""
    return {name: _text(texts) for name, texts in WORDS.items()}


def kinds_for_script(kinds: Iterable[str]) -> dict[str, Text]:
    """Return the explanations of the given kinds of events, by kind and by language."""
    return {kind: _text(KINDS[kind]) for kind in sorted(set(kinds)) if kind in KINDS}


def _text(texts: tuple[str, str]) -> Text:
    return dict(zip(LANGUAGES, texts, strict=True))
