"""What the screen looks like: colours are the terminal's own, so it is readable on dark and light.

Where there is room all panes are seen: source and transcript left, graph and tables right. Else the
chosen pane is above, the transcript below.
"""

STYLE = """
Screen { layout: vertical; background: ansi_default; color: ansi_default; }
#top { height: 1; background: ansi_blue; color: ansi_bright_white; }
#place { width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; padding: 0 1; }
#time { width: auto; padding: 0 1; }
#tabs { height: 1; padding: 0 1; text-wrap: nowrap; }
#body { height: 1fr; layout: vertical; }
Pane, Transcript {
    border: round ansi_bright_black; border-title-color: ansi_default;
    padding: 0 0 0 1; background: ansi_default; color: ansi_default;
    scrollbar-size: 0 1; scrollbar-gutter: stable;
    scrollbar-color: ansi_bright_black; scrollbar-background: ansi_default;
    scrollbar-color-hover: ansi_blue; scrollbar-background-hover: ansi_default;
    scrollbar-color-active: ansi_blue; scrollbar-background-active: ansi_default;
    scrollbar-corner-color: ansi_default;
}
Pane:focus, Transcript:focus { border: round ansi_blue; border-title-style: bold; }
Pane { display: none; height: 1fr; }
Pane.chosen { display: block; }
Pane > Static { width: auto; height: auto; }
Transcript { height: 1fr; overflow-x: hidden; scrollbar-size: 0 1; }
#hint { height: auto; max-height: 4; display: none; padding: 0 1; color: ansi_blue; }
#bottom { height: 1; padding: 0 1; }
#asks { width: auto; text-style: bold; color: ansi_blue; }
Prompt { width: 1fr; background: ansi_default; color: ansi_default; }
Prompt > .input--placeholder { color: ansi_bright_black; }
Footer { background: ansi_default; color: ansi_default; }
Footer FooterKey { background: ansi_default; color: ansi_default; }
Footer FooterKey .footer-key--key { background: ansi_default; color: ansi_blue; text-style: bold; }
Footer FooterKey .footer-key--description { background: ansi_default; color: ansi_default; }

.narrow Pane, .narrow Pane:focus { border: none; }
.narrow Transcript { dock: bottom; height: 50%; }
.narrow Transcript { border: none; border-top: solid ansi_bright_black; }
.narrow Transcript:focus { border: none; border-top: solid ansi_blue; }
.wide #tabs { display: none; }
.wide #body { layout: grid; grid-size: 2 5; grid-rows: 14fr 6fr 6fr 6fr 5fr; }
.wide Pane { display: block; }
.wide #script { display: none; }
.wide #script.chosen { display: block; }
.wide #source.replaced { display: none; }
.wide Transcript { row-span: 4; }
.zoomed Pane, .zoomed Transcript { display: none; }
.zoomed #body { layout: vertical; }
.zoomed .zoom, .zoomed Transcript.zoom { display: block; height: 1fr; dock: none; }
"""

ASCII_STYLE = """
Pane, Transcript, Pane:focus, Transcript:focus {
    border: ascii ansi_default; scrollbar-size: 0 0; scrollbar-gutter: auto;
}
.narrow Transcript, .narrow Transcript:focus { border: none; border-top: ascii ansi_default; }
"""
