// What the page says. English stands in the scripts; a page of several languages has a table.

const SPEECH = { words: null };

/** Return some English words in the language that is shown. */
function said(english) {
  return SPEECH.words?.[english] ?? english;
}
