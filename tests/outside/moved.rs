//! An acceptance whose ground moved, read from outside.

use serde_json::json;

use crate::impact::Accepted;

#[test]
fn both_name_the_record_by_which_the_ground_of_an_acceptance_moved() {
    if !super::python_is_here() {
        return;
    }
    let accepted = Accepted::new("length");
    let said = super::agree(&accepted.home);
    assert_eq!(said["tasks"][&accepted.task]["task_standing"], "completed");
    let reread = accepted.reread();
    let said = super::agree(&accepted.home);
    let task = &said["tasks"][&accepted.task];
    assert_eq!(task["task_standing"], "completed, basis moved");
    assert_eq!(task["outputs"][0]["basis_moved_by"], reread["record"]);
    assert_eq!(task["outputs_missing"], json!([]));
}
