// A page as a place to work: blocks that run, predictions, exercises, and how far the student is.
// The server is kerascope/learn/web/server.py; the page below is that of `kerascope lessons html`.
(async function () {
  "use strict";
  const CHAPTER = decodeURIComponent(location.pathname.slice(1).replace(/\.html$/, ""));
  const NEEDS_EARLIER = ["NameError", "FileNotFoundError", "ArgumentError", "ModuleNotFoundError"];
  const WORDS = {
    run: ["Run", "运行"], debug: ["Start the debugger", "启动调试器"], stop: ["Stop", "停止"],
    edit: ["Edit", "编辑"], restore: ["Restore", "恢复原样"], copy: ["Copy", "复制"],
    above: ["Run all above", "运行以上全部"], restart: ["Restart Python", "重启 Python"],
    running: ["running …", "正在运行……"], waiting: ["waits for your line", "等待你输入"],
    done: ["done in {0} s", "用时 {0} 秒"], stopped: ["stopped after {0} s", "{0} 秒后被停止"],
    same: ["done in {0} s; same output as in the chapter", "用时 {0} 秒；输出与课文相同"],
    failed: ["{1} after {0} s", "{0} 秒后出现 {1}"], traceback: ["Traceback", "调用栈"],
    copied: ["copied", "已复制"], restored: ["as in the chapter", "已恢复为课文中的代码"],
    busy: ["Another block still runs. Stop it first.", "还有一段代码在运行，请先停止它。"],
    restarted: ["Python starts again with the next block that you run. All names are gone.",
      "下次运行代码时 Python 会重新启动，之前的变量都已清空。"],
    missing: ["This block may need earlier ones: “Run all above”.",
      "这段代码可能要先运行前面的代码：“运行以上全部”。"],
    offline: ["The server does not answer. Start it again: kerascope learn web",
      "服务器没有应答。请重新运行 kerascope learn web"],
    code: ["Code {0}: Ctrl-Enter runs it, Escape leaves the editor",
      "代码 {0}：Ctrl-Enter 运行，Escape 离开编辑器"],
    output: ["Your output", "你的输出"], real: ["Output in the chapter", "课文中的输出"],
    line: ["Your line after {0}", "在 {0} 后输入"], send: ["Send", "发送"],
    next: ["Send as in the chapter:", "照课文发送："],
    prediction: ["Your prediction", "你的预测"], reason: ["If they differ: why?", "如果不同，为什么？"],
    predict: ["Keep it, and show the output", "保存预测，查看输出"],
    first: ["First write what you expect, then run it.", "请先写下你的预测，再运行。"],
    exercises: ["Exercises", "练习"], file: ["Your file: {0}", "你的文件：{0}"],
    check: ["Check", "检查"], checking: ["checking …", "正在检查……"], saved: ["saved", "已保存"],
    hint: ["Hint ({0} of {1} shown)", "提示（已看 {0} / {1}）"], solution: ["Solution", "参考答案"],
    reset: ["Start again", "重新开始"], kept: ["your text is kept as {0}", "你原来写的保存在 {0}"],
    takeTheirs: ["Show the file as it is now", "显示文件现在的内容"],
    takeMine: ["Overwrite it with this page's text", "用本页的内容覆盖文件"],
    PASS: ["PASS", "通过"], FAIL: ["FAIL", "未通过"], "NOT ATTEMPTED": ["NOT ATTEMPTED", "未作答"],
    passed: ["{0} of {1} exercises passed", "已通过 {0} / {1} 个练习"],
    read: ["{0} of {1} sections read", "已读 {0} / {1} 节"],
  };

  // --- elements, words, requests ------------------------------------------------------------------

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") made.addEventListener(name, value);
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  // A text in both languages; the style sheet shows the chosen one. HTML comes from the server.
  function both(texts, isHtml = false) {
    return element(isHtml ? "div" : "span", {}, ...["en", "zh"].map((language) => {
      const lang = language === "zh" ? "zh-Hans" : language;
      const one = element(isHtml ? "div" : "span", { class: "in-" + language, lang });
      one[isHtml ? "innerHTML" : "textContent"] = texts[language];
      return one;
    }));
  }

  const filled = (name, values) =>
    WORDS[name].map((text) => text.replace(/\{(\d)\}/g, (_, number) => values[number]));
  const plain = (name, ...values) => filled(name, values).join(" / ");
  const words = (name, ...values) => {
    const [en, zh] = filled(name, values);
    return both({ en, zh });
  };
  const button = (name, click) => element("button", { type: "button", click }, words(name));
  const statusLine = () => element("span", { class: "status", role: "status" });
  const readable = (text, label) =>  // it scrolls, also by keys
    element("pre", { tabindex: "0", role: "group", "aria-label": plain(label) }, text);

  // A problem is shown until a request succeeds, another notice until a block runs.
  let hasProblem = false;

  function offline(error) {
    hasProblem = true;
    notice.replaceChildren(words("offline"));
    throw error;
  }

  async function post(path, data = {}) {
    const options = { method: "POST", body: JSON.stringify(data), keepalive: isLeaving };
    const response = await fetch(path, options).catch(offline);
    const isRefused = response.headers.get("content-type").startsWith("text/plain");
    if (isRefused || hasProblem || path.endsWith("/run")) {
      notice.replaceChildren(isRefused ? await response.text() : "");
    }
    hasProblem = isRefused;
    if (isRefused) throw new Error(notice.textContent);
    return response;
  }
  const get = async (path) => (await fetch(path)).json();
  const tell = (action, data) => post(`/blocks/${CHAPTER}/${action}`, data);

  // Returns a function that acts when it was not called again for a while, or the page is left.
  const waiting = new Map();
  let isLeaving = false;
  function later(act) {
    const now = () => {
      waiting.delete(act);
      act();
    };
    return () => {
      clearTimeout(waiting.get(act));
      waiting.set(act, setTimeout(now, 400));
    };
  }
  addEventListener("pagehide", () => {
    isLeaving = true;  // the browser sends a request to its end only if told so
    for (const act of waiting.keys()) act();
  });

  function editorIn(place, value, label, run, leave) {
    const indent = (one) => one.somethingSelected() ? one.indentSelection("add")
      : one.replaceSelection("    ");
    return CodeMirror(place, {
      value, mode: "python", indentUnit: 4, lineNumbers: true, lineWrapping: true,
      viewportMargin: Infinity, screenReaderLabel: label,
      extraKeys: { "Ctrl-Enter": run, "Cmd-Enter": run, "Shift-Enter": run, Esc: leave,
        Tab: indent, "Shift-Tab": "indentLess" },
    });
  }

  const notice = element("p", { class: "notice", role: "status" });
  document.querySelector("header.bar").after(notice);

  // --- a block ------------------------------------------------------------------------------------

  // What a program shows on a line that it writes again and again is the last that it has written.
  const overwritten = (text) => text.replace(/[\b]+/g, "\r").split("\n")
    .map((line) => line.split("\r").filter(Boolean).pop() ?? "").join("\n");
  // Without spaces at the ends of lines, and without the module of an error.
  const squeezed = (text) => text.replace(/\s+$/gm, "").replace(/^(\w+\.)+(?=\w+: )/gm, "").trim();

  // Whether a text is the stored one, in which a line `...` stands for any lines.
  const isAsStored = (text, stored) => new RegExp("^" + stored.split(/^\.\.\.$/m)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[^]*") + "$").test(text);

  class Block {
    constructor(facts, kept) {
      Object.assign(this, { facts, kept, text: "" });
      this.element = document.getElementById("block." + facts.id);
      this.printed = this.element.querySelector("pre.printed");
      this.isSession = ["pdb", "kscope"].includes(facts.kind);
      this.runButton = button(this.isSession ? "debug" : "run", () => this.isRunning ? tell("stop") : this.run());
      this.status = statusLine();
      this.output = element("div", { class: "mine", role: "group", "aria-label": plain("output") });
      const toEdit = this.isSession ? [] :  // in a session, the student types the commands
        [button("edit", () => this.edit().focus()), button("restore", () => this.restore())];
      const tools = element("div", { class: "tools" }, this.runButton, ...toEdit,
        button("copy", () => this.copy()), button("above", () => runAllAbove(this)), this.status);
      this.shown = this.element.querySelector("pre:not(.printed)") ??
        this.element.querySelector(".title");
      this.shown.after(tools, this.output);
      if (kept.code !== undefined) this.edit();
      if (facts.predict) this.askForPrediction(this.element.querySelector("details"));
      for (const event of kept.events ?? []) this.show(event);
    }

    get code() {
      return this.editor ? this.editor.getValue() : this.facts.code;
    }

    keep(fields) {
      Object.assign(this.kept, fields);
      return tell("keep", { block: this.facts.id, fields });
    }

    edit() {
      if (this.editor) return this.editor;
      const place = element("div", { class: "editor" });
      this.shown.before(place);
      this.shown.hidden = true;
      this.editor = editorIn(place, this.kept.code ?? this.facts.code, plain("code", this.facts.id),
        () => this.run(), () => this.runButton.focus());
      this.editor.on("change", later(() => this.editor && this.keep({ code: this.code })));
      return this.editor;
    }

    restore() {
      if (this.editor) {
        this.editor.getWrapperElement().parentNode.remove();
        this.editor = null;
        this.shown.hidden = false;
        this.keep({ code: null });  // and no output of it
        delete this.kept.code;
        if (!this.isRunning) this.output.replaceChildren();
      }
      this.status.replaceChildren(words("restored"));
    }

    async copy() {
      await navigator.clipboard.writeText(this.code);
      this.status.replaceChildren(words("copied"));
    }

    // Runs the block, and returns whether it ended well. A block whose output is not predicted yet
    // shows none: `isQuiet`, it runs for the sake of later blocks.
    async run(isQuiet = false) {
      const busy = blocks.find((one) => one.isRunning);
      if (busy) {
        const message = words("busy");
        this.status.replaceChildren(message);
        busy.atEnd.push(() => message.remove());
        busy.runButton.focus();
        return false;
      }
      const isHidden = this.facts.predict && this.kept.prediction === undefined;
      if (isHidden && !isQuiet) {
        this.status.replaceChildren(words("first"));
        this.element.querySelector(".prediction textarea").focus();
        return false;
      }
      return this.follow("run", { block: this.facts.id, code: this.code, quiet: isHidden });
    }

    async follow(action, data) {
      this.isRunning = true;
      Object.assign(this, { error: null, said: null, text: "", atEnd: [] });
      this.commands = this.facts.code.split("\n").filter((line) => line.trim());
      this.printed?.classList.remove("mine");
      this.output.replaceChildren();
      this.runButton.replaceChildren(words("stop"));
      this.status.replaceChildren(words("running"));
      try {
        const response = await tell(action, data);
        const lines = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let rest = "", part; !(part = await lines.read().catch(offline)).done;) {
          const whole = (rest + part.value).split("\n");
          rest = whole.pop();
          for (const event of whole.map((line) => JSON.parse(line))) {
            if (!data.quiet || event.done !== undefined) this.show(event);
          }
        }
      } catch (error) {
        this.status.replaceChildren();  // the notice says why
        throw error;
      } finally {
        this.isRunning = false;
        this.runButton.replaceChildren(words(this.isSession ? "debug" : "run"));
        for (const act of this.atEnd) act();
      }
      return !this.error;
    }

    show(event) {
      if (event.done !== undefined) this.end(event.done);
      else if (event.error) this.fail(event);
      else if (event.text !== undefined) this.print(event.text);
      else if (event.ask !== undefined) this.ask(event.ask);
      else this.picture(event);
    }

    print(text) {
      this.text += text;
      if (!this.said) {
        this.said = readable("", "output");
        this.said.whole = "";
        this.output.append(this.said);
      }
      this.said.whole += text;
      this.said.textContent = overwritten(this.said.whole);
      this.said.scrollTop = this.said.scrollHeight;
    }

    picture(event) {
      this.said = null;
      const name = event.name ?? plain("output");
      const src = event.svg ? "data:image/svg+xml," + encodeURIComponent(event.svg)
        : "data:image/png;base64," + event.png;
      if (event.html === undefined) return this.output.append(element("img", { src, alt: name }));
      const parsed = new DOMParser().parseFromString(event.html, "text/html");
      const srcdoc = parsed.querySelector("iframe")?.srcdoc ?? event.html;  // a player is in a frame
      this.output.append(element("iframe",
        { class: "player", sandbox: "allow-scripts", title: name, srcdoc }));
    }

    fail(event) {
      this.error = event.error;
      this.said = null;
      if (event.error === "KeyboardInterrupt") return;
      const line = `${event.error}: ${event.message}`;
      this.text += line;
      const shown = readable(line, "output");
      shown.classList.add("FAIL");
      this.output.append(shown, element("details", {}, element("summary", {}, words("traceback")),
        readable(event.text, "traceback")));
      if (NEEDS_EARLIER.includes(event.error)) {
        this.output.append(element("p", {}, words("missing")));
      }
    }

    // A debugger's prompt, or the `input()` of a program.
    ask(prompt) {
      this.print(prompt);
      this.status.replaceChildren(words("waiting"));
      const line = element("input", { autocomplete: "off", spellcheck: "false",
        "aria-label": plain("line", prompt.trim()) });
      const send = (text) => {
        form.remove();
        this.status.replaceChildren(words("running"));
        tell("answer", { text });
      };
      const submit = (event) => {
        event.preventDefault();
        send(line.value);
      };
      const form = element("form", { class: "ask", submit }, line,
        element("button", {}, words("send")));
      if (this.isSession && this.commands.length) {
        const next = button("next", () => send(this.commands.shift()));
        next.append(" ", element("code", {}, this.commands[0]));
        form.append(next);
      }
      this.output.append(form);
      line.focus();
    }

    end(seconds) {
      this.output.querySelector("form.ask")?.remove();
      const isSame = this.text !== "" && this.printed !== null &&
        isAsStored(squeezed(overwritten(this.text)), squeezed(this.printed.textContent));
      if (isSame) this.output.replaceChildren();  // it is below, and marked there
      this.printed?.classList.toggle("mine", isSame);
      const stopped = this.error === "KeyboardInterrupt" ? "stopped" : "failed";
      const name = isSame ? "same" : this.error ? stopped : "done";
      this.status.replaceChildren(words(name, seconds, this.error));
    }

    // --- predictions ------------------------------------------------------------------------------

    askForPrediction(details) {
      if (this.kept.prediction !== undefined) return this.compare(details);
      details.hidden = true;
      const text = element("textarea", { rows: "2",
        input: later(() => form.isConnected && this.keep({ draft: text.value })) });
      text.value = this.kept.draft ?? "";
      const submit = async (event) => {
        event.preventDefault();
        if (!text.value.trim()) return;
        await this.keep({ prediction: text.value, draft: null });
        form.remove();
        this.compare(details).focus();
      };
      const form = element("form", { class: "prediction", submit },
        element("label", {}, words("prediction"), text), element("button", {}, words("predict")));
      details.before(form);
    }

    compare(details) {
      const reason = element("textarea", { rows: "2",
        input: later(() => this.keep({ reason: reason.value })) });
      reason.value = this.kept.reason ?? "";
      details.replaceWith(element("div", { class: "compared" },
        element("div", {}, words("prediction"), readable(this.kept.prediction, "prediction")),
        element("div", {}, words("real"), this.printed),
        element("label", {}, words("reason"), reason)));
      return this.printed;
    }
  }

  async function runAllAbove(block) {
    for (const one of blocks.slice(0, blocks.indexOf(block)).filter((each) => !each.isSession)) {
      if (await one.run(true) || one.facts.kind === "raises") continue;
      one.element.scrollIntoView();
      return false;
    }
    return true;
  }

  // --- an exercise --------------------------------------------------------------------------------

  class Exercise {
    constructor(state) {
      this.name = state.name;
      this.file = state;  // its text and version: what this page has shown of the file, or written
      this.turn = Promise.resolve();
      this.heading = element("h3", { id: "exercise." + state.name });
      const place = element("div", { class: "editor" });
      this.status = statusLine();
      this.result = element("div", { role: "status" });
      this.hints = element("ol", {});
      this.solution = element("div", {});
      this.checkButton = button("check", () => this.check());
      this.hintButton = button("hint", () => this.inTurn(() => this.ask("hint")));
      this.element = element("section", { class: "exercise", "aria-labelledby": this.heading.id },
        this.heading, both(state.task, true), element("p", {}, words("file", state.file)), place,
        element("div", { class: "tools" }, this.checkButton, this.hintButton,
          button("solution", () => this.solve()), button("reset", () => this.reset()), this.status),
        this.result, this.hints, this.solution);
      this.take(state);
      this.editor = editorIn(place, state.code, plain("code", state.name), () => this.check(),
        () => this.checkButton.focus());
      const save = later(() => this.send("save"));
      this.editor.on("change", () => {
        this.unmark();
        save();
      });
    }

    // Shows what the server says of the exercise, except for the text, which is in the editor.
    take(state) {
      const badge = words(state.verdict);
      badge.className = "badge " + state.verdict;
      this.heading.replaceChildren(both(state.title), " ", badge);
      this.hintButton.replaceChildren(words("hint", state.hints.length, state.hints_in_all));
      this.hintButton.disabled = state.hints.length === state.hints_in_all;
      this.hints.replaceChildren(...state.hints.map((hint) => element("li", {}, both(hint, true))));
      this.hints.hidden = !state.hints.length;
    }

    // One request follows the other: it needs the version that the one before has written, and an
    // old answer must not be shown after a new one.
    inTurn(act) {
      const result = this.turn.then(act);
      this.turn = result.catch(() => this.status.replaceChildren());  // the notice says why
      return result;
    }

    async ask(action, data) {
      const response = await post(`/exercises/${this.name}/${action}`, data);
      const state = await response.json();
      if (response.status === 409) this.choose(state);
      else this.take(state);
      return state;
    }

    // Saves or checks the text in the editor; the server refuses if another program changed the file.
    send(action) {
      return this.inTurn(async () => {
        const code = this.editor.getValue();
        if (this.isChoosing || action === "save" && code === this.file.code) return {};
        if (action === "check") this.status.replaceChildren(words("checking"));
        const state = await this.ask(action, { code, version: this.file.version });
        if (this.isChoosing) return state;
        if (state.code === code) this.file = state;  // if not, the next request finds the change
        this.status.replaceChildren(words("saved"));
        return state;
      });
    }

    async check() {
      this.unmark();
      const { outcome } = await this.send("check");
      if (!outcome) return;
      const { verdict, said, line, printed, details } = outcome;
      const row = element("p", { class: verdict }, words(verdict), " ", both(said));
      const texts = [printed, details].filter((text) => text.trim());
      this.result.replaceChildren(row, ...texts.map((text) => readable(text, "output")));
      if (!line || verdict === "PASS" || line > this.editor.lineCount()) return;
      const text = element("div", { class: "at-line FAIL" }, both(said));
      this.marked = [this.editor.addLineWidget(line - 1, text),
        this.editor.addLineClass(line - 1, "background", "bad-line")];
    }

    unmark() {
      if (!this.marked) return;
      this.marked[0].clear();
      this.editor.removeLineClass(this.marked[1], "background");
      this.marked = null;
    }

    async solve() {
      const { solution, message } = await this.inTurn(() => this.ask("solution"));
      if (message) this.status.replaceChildren(both(message));
      else this.solution.replaceChildren(readable(solution, "solution"));
    }

    async reset() {
      await this.send("save");  // what was typed last is kept, too
      await this.inTurn(async () => {
        if (this.isChoosing) return;
        this.file = await this.ask("reset");
        this.editor.setValue(this.file.code);
        this.result.replaceChildren();
        this.status.replaceChildren(this.file.kept ? words("kept", this.file.kept) : "");
      });
    }

    // The file is not the one that this page has shown: the student chooses.
    choose(theirs) {
      this.isChoosing = true;
      const choice = (name, act) => button(name, () => {
        this.isChoosing = false;
        this.file = theirs;
        this.result.replaceChildren();
        act();
      });
      this.status.replaceChildren();
      this.result.replaceChildren(element("p", {}, both(theirs.message)),
        readable(theirs.code, "takeTheirs"),
        element("p", {}, choice("takeTheirs", () => this.editor.setValue(theirs.code)), " ",
          choice("takeMine", () => this.send("save"))));
    }

    // The student returns to this window, perhaps from another editor.
    refresh() {
      return this.inTurn(async () => {
        const state = await get(`/exercises/${this.name}`);
        const code = this.editor.getValue();
        if (this.isChoosing || code !== this.file.code) return;
        this.file = state;
        this.take(state);
        if (code !== state.code) this.editor.setValue(state.code);
      });
    }
  }

  // --- the table of contents ----------------------------------------------------------------------

  if (CHAPTER === "index") {
    const progress = await get("/progress");
    for (const link of document.querySelectorAll(".chapters a[data-page]")) {
      const { seen, sections, passed, exercises } = progress[link.dataset.page.slice(0, -5)];
      link.closest("li").append(element("p", { class: "progress" },
        ...(seen ? [words("read", seen, sections)] : []),
        ...(exercises ? [words("passed", passed, exercises)] : [])));
    }
    document.documentElement.dataset.ready = "yes";
    return;
  }

  // --- a chapter ----------------------------------------------------------------------------------

  const state = await get(`/blocks/${CHAPTER}`);
  const blocks = state.blocks.map((facts) => new Block(facts, state.kept[facts.id] ?? {}));
  blocks.find((block) => block.facts.id === state.running)?.follow("follow", {});
  document.querySelector("header.bar .switch").before(button("restart", async () => {
    await tell("restart");
    notice.replaceChildren(words("restarted"));
  }));

  const exercises = state.exercises.map((one) => new Exercise(one));
  const line = document.getElementById("exercises");
  if (line) {
    line.before(element("h2", {}, words("exercises")));
    line.after(...exercises.map((one) => one.element));
    for (const one of exercises) one.editor.refresh();
    addEventListener("focus", () => exercises.forEach((one) => one.refresh()));
  }

  const seen = new Set();
  const keepSeen = later(() => tell("keep", { seen: [...seen] }));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      watcher.unobserve(entry.target);
      seen.add(entry.target.dataset.section);
      keepSeen();
    }
  });
  for (const heading of document.querySelectorAll("[data-section]")) watcher.observe(heading);
  document.documentElement.dataset.ready = "yes";
})();
