"""Compares the student's predicted numbers with those of an LSTM that is called twice."""

from kerascope.layers import LSTM, Dense, Input
from kerascope.learn import Text, check


@check
def the_predictions(student):
    lstm = LSTM(32)
    before = Text(
        "a new layer has not been called", "新建的层还没有被调用过"
    )  # fmt: skip
    student.same("nodes_before", student.get("nodes_before"), len(lstm.inbound_nodes), before)
    outputs = [lstm(Input(shape=(280, 256))) for _ in range(2)]
    student.same("nodes_after", student.get("nodes_after"), len(lstm.inbound_nodes))
    for name, output in zip("ab", outputs, strict=True):
        history = output._keras_history
        student.same(
            f"history_of_{name}",
            student.get(f"history_of_{name}"),
            (history.node_index, history.tensor_index),
            Text(
                f"encoded_{name} is output {history.tensor_index} of call {history.node_index}",
                f"encoded_{name} 是第 {history.node_index} 次调用的第 {history.tensor_index} "
                "个输出（都从 0 数起）",
            ),
        )
    student.same("parameters", student.get("parameters"), lstm.count_params())


@check
def the_second_output(student):
    dense = Dense(2, name="shared")
    outputs = [dense(Input(shape=(3,))) for _ in range(3)]
    found = student.function("second_output")(dense)
    calls = [number for number, one in enumerate(outputs) if one is found]
    number = calls[0] if calls else 1  # their names are the same
    student.require(
        number == 1,
        en="expected second_output(layer) to be the output of call 1, "
        f"yours is that of call {number}; they are counted from 0",
        zh=f"second_output(layer) 应是第 1 次调用的输出，你的是第 {number} 次的（从 0 数起）",
    )
    student.same("second_output(layer)", found, outputs[1])
