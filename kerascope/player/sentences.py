"""The sentences of captions, in English and Chinese.

`{0}`, `{1}`, ... are the words of a caption; what stands between stars is this step's own number
and is shown bold.
"""

from __future__ import annotations

from kerascope.player.words import KINDS, Text

MEANINGS = KINDS

SENTENCES: dict[str, tuple[str, str]] = {
    "fed": ("The step begins with what is fed: *{0}*.", "这一步从喂入的数据开始：*{0}*。"),
    "runs": ("{0} is called.", "调用 {0}。"),
    "failed": ("{0} failed: *{1}*", "{0} 失败了：*{1}*"),
    "said": ("{0}", "{0}"),
    # --- forward ---
    "forward.begins": ("Forward: from the inputs to the outputs, call by call.",
                       "前向：从输入到输出，一次调用接一次调用。"),
    "forward.done": ("Forward is done: every call has its output.",
                     "前向完成：每次调用都有了输出。"),
    "call.begins": ("{0} is about to be computed from {1}.", "即将用 {1} 计算 {0}。"),
    "call": ("{0} takes {1} and gives *{2}*.", "{0} 取 {1}，给出 *{2}*。"),
    "call.input": ("{0} is an input: *{2}*.", "{0} 是输入：*{2}*。"),
    "call.dense": ("{0} takes {1}, multiplies by its kernel, adds its bias, and gives *{2}*.",
                   "{0} 取 {1}，乘以 kernel，加上 bias，给出 *{2}*。"),
    "call.conv1d": ("{0} slides its kernels over {1} and gives *{2}*.",
                    "{0} 让卷积核滑过 {1}，给出 *{2}*。"),
    "call.conv2d": ("{0} slides its kernels over {1} and gives *{2}*.",
                    "{0} 让卷积核滑过 {1}，给出 *{2}*。"),
    "call.relu": ("{0} takes {1}, makes {2}, and relu gives *{3}*: what lies below 0 is silent.",
                  "{0} 取 {1}，得到 {2}，经过 relu 变为 *{3}*：小于 0 的都沉默。"),
    "call.relu.many": ("{0} takes {1} and gives *{2}*: relu silences *{3}* of {4} numbers.",
                       "{0} 取 {1}，给出 *{2}*：relu 让 {4} 个数中的 *{3}* 个沉默。"),
    "call.softmax": ("{0} takes {1}, makes {2}, and softmax gives *{4}*: in each row they add up "
                     "to 1.",
                     "{0} 取 {1}，得到 {2}，经过 softmax 变为 *{4}*：每行之和为 1。"),
    "call.squashed": ("{0} takes {1}, makes {2}, and {3} gives *{4}*.",
                      "{0} 取 {1}，得到 {2}，经过 {3} 变为 *{4}*。"),
    "call.add": ("{0} adds {1}: *{2}*.", "{0} 把 {1} 相加：*{2}*。"),
    "call.concatenate": ("{0} puts {1} side by side: *{2}*.", "{0} 把 {1} 并排放在一起：*{2}*。"),
    "call.dropout": ("{0} drops *{3}* of {4} numbers and scales up the others: *{2}*.",
                     "{0} 丢掉 {4} 个数中的 *{3}* 个，其余的放大：*{2}*。"),
    "call.reshape": ("{0} gives the numbers of {1} another shape: *{2}*.",
                     "{0} 把 {1} 的数换个形状：*{2}*。"),
    "call.maxpool": ("{0} keeps the greatest number of each window of {1}: *{2}*.",
                     "{0} 在 {1} 的每个窗口里只留最大的数：*{2}*。"),
    "call.average": ("{0} takes the mean of each window of {1}: *{2}*.",
                     "{0} 对 {1} 的每个窗口取平均：*{2}*。"),
    "call.batchnorm": ("{0} brings each channel of {1} to mean 0 and variance 1 over the batch, "
                       "then scales and shifts it: *{2}*.",
                       "{0} 把 {1} 的每个通道在这一批上变为均值 0、方差 1，再缩放平移：*{2}*。"),
    "call.embedding": ("{0} looks up a row of its table for each number of {1}: *{2}*.",
                       "{0} 为 {1} 的每个数在表里查一行：*{2}*。"),
    "call.recurrent": ("{0} goes through {1} step by step in time and gives *{2}*.",
                       "{0} 沿时间一步步走过 {1}，给出 *{2}*。"),
    # --- ops ---
    "op.begins": ("{1} is about to read {2}.", "{1} 即将读取 {2}。"),
    "op": ("{1} makes *{3}* of {2}.", "{1} 由 {2} 得到 *{3}*。"),
    "op.dot": ("dot multiplies rows by columns, {2}: *{3}*.", "dot 行乘列，{2}：*{3}*。"),
    "op.add": ("add: {2} together are *{3}*.", "add：{2} 相加得 *{3}*。"),
    "op.subtract": ("subtract: the difference of {2} is *{3}*.", "subtract：{2} 之差是 *{3}*。"),
    "op.multiply": ("multiply, element by element, {2}: *{3}*.", "multiply 逐个相乘 {2}：*{3}*。"),
    "op.divide": ("divide: the first of {2} by the second is *{3}*.",
                  "divide：{2} 前者除以后者是 *{3}*。"),
    "op.relu": ("relu keeps of {2} what lies above 0: *{3}*.",
                "relu 留下 {2} 中大于 0 的：*{3}*。"),
    "op.square": ("square: each number of {2} times itself is *{3}*.",
                  "square：{2} 各自平方得 *{3}*。"),
    "op.mean": ("mean: the average of {2} is *{3}*.", "mean：{2} 的平均是 *{3}*。"),
    "op.sum": ("sum: the numbers of {2} together are *{3}*.", "sum：{2} 之和是 *{3}*。"),
    "op.softmax": ("softmax makes *{3}* of {2}: in each row they add up to 1.",
                   "softmax 由 {2} 得到 *{3}*：每行之和为 1。"),
    "op.log": ("log of {2} is *{3}*.", "log：{2} 的对数是 *{3}*。"),
    # --- the loss ---
    "loss.begins": ("The loss compares what came out with what was wanted.",
                    "损失：把得到的与想要的相比。"),
    "loss.done": ("The loss is *{0}*.", "损失是 *{0}*。"),
    # --- backward ---
    "backward.begins": ("Backward begins at the loss and goes the same arrows the other way.",
                        "反向从损失开始，沿同样的箭头往回走。"),
    "backward.done": ("Backward is done: every weight that was asked for has its gradient.",
                      "反向完成：每个要更新的权重都有了梯度。"),
    "slope.begins": ("The slope of {0} is about to be computed.", "即将计算 {0} 的斜率。"),
    "slope": ("Backward begins at {0}; its slope is *{1}*.", "反向从 {0} 开始，它的斜率是 *{1}*。"),
    "slope.inner": ("The slope of {0} is ready; it goes on to what it was made of.",
                    "{0} 的斜率有了，继续传给它的来源。"),
    "grad.begins": ("The gradient {1} has arrived at {0} and is about to go through it.",
                    "梯度 {1} 到了 {0}，即将穿过它。"),
    "grad.begins.unknown": ("The gradient has arrived at {0} and is about to go through it.",
                            "梯度到了 {0}，即将穿过它。"),
    "grad.weights": ("The gradient goes through {0}: *{1}*.", "梯度穿过 {0}：*{1}*。"),
    "grad.passed": ("The gradient goes through {0}, which has nothing to learn.",
                    "梯度穿过 {0}，它没有要学的。"),
    "grad": ("{0} was sent the gradient {1} and passes on *{2}*.",
             "{0} 收到梯度 {1}，传出 *{2}*。"),
    "grad.last": ("{0} was sent the gradient *{1}*; nothing before it asks for one.",
                  "{0} 收到梯度 *{1}*；它之前没有谁需要梯度。"),
    "grad.zero": ("What arrives at {0} is exactly *0*: it, and all that only it would pass on, "
                  "learns nothing from this batch.",
                  "到达 {0} 的梯度恰好是 *0*：它，以及只靠它传递的，从这一批什么也学不到。"),
    "grad.dead": ("{0} was sent {1}, and yet the gradient of {2} is exactly *0*: it learns nothing "
                  "from this batch.",
                  "{0} 收到 {1}，但 {2} 的梯度恰好是 *0*：从这一批什么也学不到。"),
    "grad.add": ("An Add hands its gradient on unchanged: *{1}* goes to each of {2}.",
                 "Add 把梯度原样传出：*{1}* 传给 {2} 中的每一个。"),
    "grad.relu": ("In {0} relu lets *{1}* through and stops *{2}* where it was silent; so {3}.",
                  "在 {0} 里，relu 放行 *{1}*，在它沉默的地方拦住 *{2}*；于是 {3}。"),
    "grad.relu.last": ("In {0} relu lets *{1}* through and stops *{2}* where it was silent.",
                       "在 {0} 里，relu 放行 *{1}*，在它沉默的地方拦住 *{2}*。"),
    "grad.relu.all": ("In {0} relu was silent nowhere and lets all through, *{1}*; so {3}.",
                      "在 {0} 里，relu 没有沉默的地方，全部放行 *{1}*；于是 {3}。"),
    "grad.relu.last.all": ("In {0} relu was silent nowhere and lets all through, *{1}*.",
                           "在 {0} 里，relu 没有沉默的地方，全部放行 *{1}*。"),
    "op.relu.back.all": ("relu was silent nowhere and lets all through: *{2}*.",
                         "relu 没有沉默的地方，全部放行：*{2}*。"),
    "op.relu.back": ("relu lets *{0}* through and stops *{1}* where it was silent: {2}.",
                     "relu 放行 *{0}*，在它沉默的地方拦住 *{1}*：{2}。"),
    "op.back": ("{0}, a part of the gradient of {1}, gives *{2}*.",
                "{0} 是 {1} 的梯度的一部分，给出 *{2}*。"),
    "op.back.named": ("{0} gives *{1}*: this is d loss / d {2}.",
                      "{0} 给出 *{1}*：这就是 d loss / d {2}。"),
    "op.back.named.zero": ("{0} gives *{1}*: d loss / d {2} is exactly 0, nothing can be learned "
                           "there.",
                           "{0} 给出 *{1}*：d loss / d {2} 恰好是 0，那里学不到东西。"),
    # --- update and commit ---
    "update.begins": ("The new value of {0} is about to be computed; its gradient is {1}.",
                      "即将计算 {0} 的新值，它的梯度是 {1}。"),
    "update": ("With the gradient {3} and the rate {4}, {0} shall go from {1} to *{2}*.",
               "梯度是 {3}，学习率是 {4}：{0} 将从 {1} 变为 *{2}*。"),
    "update.many": ("{0} shall move by *{1}*, {2} of its own size, with the rate {3}.",
                    "学习率是 {3}：{0} 将移动 *{1}*，是自身大小的 {2}。"),
    "update.from_zero": ("{0} was all 0 and shall move by *{1}*, with the rate {3}.",
                         "{0} 原来全是 0；学习率是 {3}，将移动 *{1}*。"),
    "update.stays": ("{0} has no slope and *stays*: {1}.", "{0} 没有斜率，*不变*：{1}。"),
    "update.unknown": ("The new value of {0} is computed.", "算出 {0} 的新值。"),
    "commit": ("{0} is written: *{1}*.", "写入 {0}：*{1}*。"),
    "commit.from": ("{0} is written: {1} becomes *{2}*.", "写入 {0}：{1} 变为 *{2}*。"),
    "commit.same": ("{0} is written, and stays what it was: {1}.", "写入 {0}，值没有变：{1}。"),
    "update.done": ("All new values are computed; not one variable has changed yet.",
                    "新值都算好了；还没有一个变量改变。"),
    "commit.begins": ("Commit: now, and only now, the variables take their new values.",
                      "提交：现在，也只在现在，变量才换上新值。"),
    "commit.done": ("All variables have their new values; nothing read them in between.",
                    "变量都换上了新值；中间没有谁读过它们。"),
    # --- a moving picture, in which several things appear together ---
    "forward.folded": ("{0}: its *{1}* calls are computed.", "{0}：计算其中的 *{1}* 次调用。"),
    "backward.folded": ("The gradient goes back through the *{1}* calls of {0}.",
                        "梯度往回穿过 {0} 的 *{1}* 次调用。"),
    "update.folded": ("*{1}* new values of {0} are computed.", "算出 {0} 的 *{1}* 个新值。"),
    "also": (" Likewise {0}.", "{0} 也是这样。"),
    "beside": (" (*{0}* others come with it.)", "（同时还有 *{0}* 个。）"),
    "step.done": ("The step is done. Before it the loss of this batch was *{0}*.",
                  "这一步完成了。更新之前这一批的损失是 *{0}*。"),
}  # fmt: skip
for _kind, (_en, _zh) in KINDS.items():
    SENTENCES[f"kind.{_kind}.alone"] = (_en, _zh)
    SENTENCES[f"kind.{_kind}"] = (f"{{0}}: {_en}", f"{{0}}：{_zh}")


def sentences_for_script(keys: set[str]) -> dict[str, Text]:
    """Return the sentences that a page needs, in each language."""
    return {key: {"en": SENTENCES[key][0], "zh": SENTENCES[key][1]} for key in sorted(keys)}
